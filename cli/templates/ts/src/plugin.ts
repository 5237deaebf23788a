// A plugin of moss with one tool.

import { definePlugin, defineTool, t } from "moss";

const tool = defineTool(
  {
    name: "{{tool}}",
    description: "Returns a text in capitals.",
    parameters: { text: t.string("The text.") },
    output: t.string(),
    idempotent: true,
    examples: [{ title: "a word", arguments: { text: "ho" }, output: "HO" }],
  },
  ({ text }) => text.toUpperCase(),
);

export default definePlugin({ tools: [tool] });
