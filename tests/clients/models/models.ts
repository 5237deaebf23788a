// The official clients of the APIs of models, against a server of this machine.
//
// Reads a file of exchanges, makes each of them with the client of its API, and writes what it saw
// of each to standard output as one JSON array; the test that runs it decides what is right.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

import Anthropic from "@anthropic-ai/sdk";
import { Ollama, type ToolCall } from "ollama";
import OpenAI from "openai";

interface Exchange {
  api: "openai_chat" | "openai_responses" | "anthropic_messages" | "ollama";
  url: string;
  stream: boolean;
  tools: boolean;
}

interface Seen {
  text: string;
  deltas: number;
}

// Longest wait for any answer, in milliseconds.
const BOUND = 30_000;
const MODEL = "m";
const ASKED = [{ role: "user" as const, content: "go" }];
const TOOLS = ["create_file", "delete_file", "read_file", "run_tests"];
const SCHEMA = { type: "object" as const, properties: {} };

function check(holds: boolean, what: unknown): void {
  if (!holds) {
    throw new Error(`not as expected: ${JSON.stringify(what)}`);
  }
}

// The arguments of a call, or their text where they are no JSON.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { unparsed: text };
  }
}

function openai(exchange: Exchange): OpenAI {
  return new OpenAI({ baseURL: `${exchange.url}/v1`, apiKey: "x", timeout: BOUND, maxRetries: 1 });
}

type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;
type Completion = OpenAI.Chat.Completions.ChatCompletion;

interface Call {
  index?: number;
  custom?: { input: string };
  function?: { arguments: string };
}

// A streamed completion as a whole: what the helper makes, but also with calls of free text, which
// it does not know.
async function joined(chunks: AsyncIterable<Chunk>, seen: Seen): Promise<Completion> {
  const calls: Call[] = [];
  const choice: { message: object; finish_reason?: string | null } = { message: {} };
  let completion = {};
  for await (const { id, usage, choices } of chunks) {
    completion = { id, usage, choices: [choice] };
    for (const { delta, finish_reason } of choices) {
      seen.text += delta.content ?? "";
      choice.finish_reason = finish_reason;
      for (const call of (delta.tool_calls ?? []) as Call[]) {
        const begun = calls[call.index ?? -1];
        if (!begun) {
          check(call.index === calls.length, call);
          calls.push(call);
        } else if (begun.custom) {
          begun.custom.input += call.custom?.input;
        } else if (begun.function) {
          begun.function.arguments += call.function?.arguments;
        }
      }
    }
  }
  choice.message = { content: seen.text, tool_calls: calls };
  return completion as Completion;
}

async function openaiChat(exchange: Exchange, seen: Seen): Promise<object> {
  const tools = TOOLS.map((name) => {
    return { type: "function" as const, function: { name, strict: true, parameters: SCHEMA } };
  });
  const request = { model: MODEL, messages: ASKED, ...(exchange.tools ? { tools } : {}) };
  const completions = openai(exchange).chat.completions;
  const options = { stream_options: { include_usage: true } };
  let completion;
  if (exchange.stream && !exchange.tools) {
    const chunks = await completions.create({ ...request, ...options, stream: true });
    completion = await joined(chunks, seen);
  } else if (exchange.stream) {
    const stream = completions.stream({ ...request, ...options });
    stream.on("content.delta", (event) => {
      seen.text += event.delta;
      seen.deltas += 1;
    });
    stream.on("tool_calls.function.arguments.delta", () => (seen.deltas += 1));
    completion = await stream.finalChatCompletion();
    check(seen.text === (completion.choices[0].message.content ?? ""), seen);
  } else {
    completion = await completions.create(request);
  }
  const choice = completion.choices[0];
  const calls = choice.message.tool_calls ?? [];
  return {
    id: completion.id,
    text: choice.message.content ?? "",
    calls: calls.map((call) => {
      if (call.type === "custom") {
        const { name, input } = call.custom;
        return { id: call.id, name, arguments: { input } };
      }
      const { name, arguments: text } = call.function;
      return { id: call.id, name, arguments: parsed(text) };
    }),
    end: choice.finish_reason,
    tokens: [completion.usage?.prompt_tokens, completion.usage?.completion_tokens],
  };
}

// An item without what the client adds to it.
function bare(item: object): unknown {
  return JSON.parse(
    JSON.stringify(item, (key, value) => (key.startsWith("parsed") ? undefined : value)),
  );
}

async function openaiResponses(exchange: Exchange, seen: Seen): Promise<object> {
  const tools = TOOLS.map((name) => {
    return { type: "function" as const, name, strict: true, parameters: SCHEMA };
  });
  const request = { model: MODEL, input: "go", ...(exchange.tools ? { tools } : {}) };
  const responses = openai(exchange).responses;
  let response: OpenAI.Responses.Response;
  if (exchange.stream) {
    const stream = responses.stream(request);
    const [done, numbers] = [[] as unknown[], [] as number[]];
    stream.on("event", (event) => {
      numbers.push(event.sequence_number);
      if (event.type === "response.output_item.done") {
        done.push(bare(event.item));
      }
    });
    stream.on("response.output_text.delta", (event) => {
      seen.text += event.delta;
      seen.deltas += 1;
    });
    stream.on("response.function_call_arguments.delta", () => (seen.deltas += 1));
    response = await stream.finalResponse();
    if (response.status === "failed") {
      throw new Error(`${response.error?.code}: ${response.error?.message}`);
    }
    check(numbers.every((number, place) => number === place), numbers);
    // What is read item by item is what the whole has in the end.
    check(isDeepStrictEqual(done, response.output.map(bare)), [done, response.output]);
  } else {
    response = await responses.create(request);
  }
  const texts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
  const calls = response.output.filter(
    (item) => item.type === "function_call" || item.type === "custom_tool_call",
  );
  return {
    id: response.id,
    text: texts.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
    calls: calls.map((call) => {
      const name = call.namespace ? `${call.namespace}__${call.name}` : call.name;
      const isCustom = call.type === "custom_tool_call";
      const given = isCustom ? { input: call.input } : parsed(call.arguments);
      return { id: call.call_id, name, arguments: given };
    }),
    end: response.incomplete_details?.reason ?? response.status,
    tokens: [response.usage?.input_tokens, response.usage?.output_tokens],
  };
}

async function anthropicMessages(exchange: Exchange, seen: Seen): Promise<object> {
  const client = new Anthropic({
    baseURL: exchange.url,
    apiKey: "x",
    timeout: BOUND,
    maxRetries: 1,
  });
  const tools = TOOLS.map((name) => ({ name, input_schema: SCHEMA }));
  const request = {
    model: MODEL,
    max_tokens: 100,
    messages: ASKED,
    ...(exchange.tools ? { tools } : {}),
  };
  let message: Anthropic.Message;
  if (exchange.stream) {
    const stream = client.messages.stream(request);
    stream.on("text", (delta) => {
      seen.text += delta;
      seen.deltas += 1;
    });
    stream.on("inputJson", () => (seen.deltas += 1));
    message = await stream.finalMessage();
  } else {
    message = await client.messages.create(request);
  }
  const calls = message.content.filter((block) => block.type === "tool_use");
  return {
    id: message.id,
    text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.input })),
    end: message.stop_reason,
    tokens: [message.usage.input_tokens, message.usage.output_tokens],
  };
}

async function ollama(exchange: Exchange, seen: Seen): Promise<object> {
  const client = new Ollama({ host: exchange.url });
  const request = { model: MODEL, messages: ASKED };
  const calls: ToolCall[] = [];
  let last;
  if (exchange.stream) {
    for await (const part of await client.chat({ ...request, stream: true })) {
      seen.text += part.message.content;
      seen.deltas += 1;
      calls.push(...(part.message.tool_calls ?? []));
      last = part;
    }
  } else {
    last = await client.chat(request);
    seen.text = last.message.content;
    calls.push(...(last.message.tool_calls ?? []));
  }
  check(last?.done === true, last);
  return {
    text: seen.text,
    calls: calls.map((call) => {
      return { name: call.function.name, arguments: call.function.arguments };
    }),
    end: last?.done_reason,
    tokens: [last?.prompt_eval_count, last?.eval_count],
  };
}

const CLIENTS = {
  openai_chat: openaiChat,
  openai_responses: openaiResponses,
  anthropic_messages: anthropicMessages,
  ollama,
};

async function exchanged(exchange: Exchange): Promise<object> {
  const seen = { text: "", deltas: 0 };
  try {
    const report = await CLIENTS[exchange.api](exchange, seen);
    return { ...report, deltas: seen.deltas };
  } catch (error) {
    // Whether it should have been raised is for the test to say.
    const { status, status_code, message, constructor } = error as Error & Record<string, unknown>;
    return {
      raised: constructor.name,
      status: status ?? status_code ?? null,
      message,
      text: seen.text,
    };
  }
}

async function main(): Promise<void> {
  const exchanges: Exchange[] = JSON.parse(readFileSync(process.argv[2], "utf8"));
  const reports = [];
  for (const exchange of exchanges) {
    reports.push(await exchanged(exchange));
  }
  console.log(JSON.stringify(reports));
}

void main();
