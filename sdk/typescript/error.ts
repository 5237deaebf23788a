// How a tool says what went wrong, and how it hears it from moss.

/** What kind of failure it was. */
export type ErrorCode =
  | "invalid-arguments"
  | "invalid-path"
  | "not-found"
  | "already-exists"
  | "not-a-file"
  | "not-a-directory"
  | "binary"
  | "encoding"
  | "too-large"
  | "out-of-range"
  | "no-match"
  | "ambiguous"
  | "no-change"
  | "conflict"
  | "limit-exceeded"
  | "denied"
  | "unavailable"
  | "timeout"
  | "cancelled"
  | "io"
  | "failed";

/** Why a tool failed, written so that a model can correct itself. */
export class ToolError extends Error {
  override readonly name = "ToolError";

  /** Takes the kind, what went wrong and where, and what to do next. */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** Runs a function of moss and makes what it throws a `ToolError`. */
export function fromHost<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    const { code, message, hint } = payload(error) as Partial<ToolError>;
    if (code !== undefined && message !== undefined) {
      throw new ToolError(code, message, hint);
    }
    throw error;
  }
}

/** Returns what a function of the contract threw as the error of its result. */
export function payload(error: unknown): unknown {
  const { payload } = (error ?? {}) as { payload?: unknown };
  return payload ?? error ?? {};
}

/** Makes an error of the contract of whatever a tool threw. */
export function toWire(error: unknown): { code: ErrorCode; message: string; hint?: string } {
  if (error instanceof ToolError) {
    return { code: error.code, message: error.message, hint: error.hint };
  }
  if (error instanceof Error) {
    // What an author needs and a model does not.
    console.error(`${error}\n${error.stack ?? ""}`);
  }
  return { code: "failed", message: String(error) };
}
