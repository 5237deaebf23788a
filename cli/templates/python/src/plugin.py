"""A plugin of moss with one tool."""

import moss


@moss.tool(idempotent=True, examples=[moss.Example("a word", {"text": "ho"}, output="HO")])
def {{tool}}(text: str) -> str:
    """Returns a text in capitals.

    Args:
        text: The text.
    """
    return text.upper()


moss.plugin(tools=[{{tool}}])
