// `fetch` as the web has it: the one of the runtime follows no redirects.

import { ToolError } from "./error.ts";

const REDIRECTS_MAX = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const PRIVATE = ["authorization", "cookie"];

const exchange: typeof fetch | undefined = globalThis.fetch;

/**
 * Sends a request to a host that the plugin requests and the user grants. Redirects of `GET` and
 * `HEAD` are followed, at most 5, each as a request of its own; `redirect: "manual"` hands them on.
 */
async function fetchFollowing(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  if (exchange === undefined) {
    throw new ToolError("denied", "the plugin does not request any host: `request.http`");
  }
  const first = input instanceof Request ? input : undefined;
  const method = (init?.method ?? first?.method ?? "GET").toUpperCase();
  const redirect = init?.redirect ?? first?.redirect ?? "follow";
  let url = first?.url ?? String(input);
  let response = await sent(url, () => exchange(input, init));
  if (redirect === "manual" || !["GET", "HEAD"].includes(method)) {
    return response;
  }
  const headers = new Headers(init?.headers ?? first?.headers);
  for (let followed = 0; REDIRECTS.includes(response.status); followed += 1) {
    const location = response.headers.get("location");
    if (location === null) {
      break;
    }
    if (followed === REDIRECTS_MAX || redirect === "error") {
      throw new ToolError("failed", `${url}: more redirects than are wanted`);
    }
    const target = new URL(location, url);
    if (target.origin !== new URL(url).origin) {
      // What was meant for one host is not reported to another.
      PRIVATE.forEach((name) => headers.delete(name));
    }
    url = target.href;
    response = await sent(url, () => exchange(url, { method, headers }));
  }
  return response;
}

async function sent(url: string, run: () => Promise<Response>): Promise<Response> {
  try {
    return await run();
  } catch (error) {
    throw new ToolError("unavailable", `${url}: ${error instanceof Error ? error.message : error}`);
  }
}

globalThis.fetch = fetchFollowing;
