// Schemas that are also types: `t.integer("The most lines.", { minimum: 1 })` is a JSON schema at run
// time and a `number` for the compiler.

/** A JSON schema, and the type of the values that fit it. */
export interface Schema<T> {
  /** The schema. */
  readonly json: { readonly [keyword: string]: unknown };
  /** Whether the key may be left out. */
  readonly optional: boolean;
  /** Only for the compiler. */
  readonly value?: T;
}

/** A schema of a key that may be left out. */
export interface OptionalSchema<T> extends Schema<T> {
  readonly optional: true;
}

/** The keys of an object and their schemas. */
export type Shape = { readonly [key: string]: Schema<unknown> };

type ValueOf<S> = S extends Schema<infer T> ? T : never;
type OptionalKeys<S extends Shape> = {
  [K in keyof S]: S[K] extends OptionalSchema<unknown> ? K : never;
}[keyof S];

/** An object that fits. */
export type ObjectOf<S extends Shape> = {
  [K in Exclude<keyof S, OptionalKeys<S>>]: ValueOf<S[K]>;
} & { [K in OptionalKeys<S>]?: ValueOf<S[K]> };

type Bounds = { minimum?: number; maximum?: number; default?: number };
type TextBounds = { minLength?: number; maxLength?: number; pattern?: string; default?: string };
type ListBounds = { minItems?: number; maxItems?: number };

const required = <T>(description: string | undefined, json: object): Schema<T> => ({
  json: { ...json, ...(description === undefined ? {} : { description }) },
  optional: false,
});

/** Schemas. Each takes a text that says what the value is, for models and people. */
export const t = {
  /** A text. */
  string: (description?: string, options: TextBounds = {}): Schema<string> =>
    required(description, { type: "string", ...options }),

  /** A whole number. */
  integer: (description?: string, options: Bounds = {}): Schema<number> =>
    required(description, { type: "integer", ...options }),

  /** A number. */
  number: (description?: string, options: Bounds = {}): Schema<number> =>
    required(description, { type: "number", ...options }),

  /** Yes or no. */
  boolean: (description?: string, options: { default?: boolean } = {}): Schema<boolean> =>
    required(description, { type: "boolean", ...options }),

  /** One of some texts. */
  oneOf: <const V extends string>(
    values: readonly V[],
    description?: string,
    options: { default?: NoInfer<V> } = {},
  ): Schema<V> => required(description, { type: "string", enum: values, ...options }),

  /** A list. */
  array: <T>(
    items: Schema<T>,
    description?: string,
    options: ListBounds & { default?: NoInfer<T>[] } = {},
  ): Schema<T[]> => required(description, { type: "array", items: items.json, ...options }),

  /** An object with these keys and no others. */
  object: <const S extends Shape>(shape: S, description?: string): Schema<ObjectOf<S>> =>
    required(description, objectSchema(shape)),

  /** An object with any keys, whose values are alike. */
  record: <T>(values: Schema<T>, description?: string): Schema<Record<string, T>> =>
    required(description, { type: "object", additionalProperties: values.json }),

  /** Any JSON value. */
  any: (description?: string): Schema<unknown> => required(description, {}),

  /** Makes the key one that may be left out, without a default. */
  optional: <T>(schema: Schema<T>): OptionalSchema<T> => ({ ...schema, optional: true }),
};

function objectSchema(shape: Shape): object {
  const properties = Object.entries(shape).map(([key, schema]) => [key, schema.json]);
  const names = Object.entries(shape)
    .filter(([, schema]) => !schema.optional && !("default" in schema.json))
    .map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: names,
    additionalProperties: false,
  };
}

/** Puts the defaults of a schema where a value has nothing. */
export function withDefaults(schema: unknown, value: unknown): unknown {
  const { properties, items } = schema as { properties?: object; items?: unknown };
  if (properties && typeof value === "object" && value !== null && !Array.isArray(value)) {
    const filled: Record<string, unknown> = { ...value };
    for (const [key, of] of Object.entries(properties)) {
      const given = filled[key] ?? (of as { default?: unknown }).default;
      if (given === undefined) {
        delete filled[key];
      } else {
        filled[key] = withDefaults(of, given);
      }
    }
    return filled;
  }
  return items && Array.isArray(value) ? value.map((item) => withDefaults(items, item)) : value;
}
