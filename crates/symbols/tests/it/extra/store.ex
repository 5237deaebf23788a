defmodule Shop.Store do
  @moduledoc "A store."
  import Enum
  alias Shop.Item
  @doc """
  Finds.
  """
  @spec find(integer) :: term
  def find(id) when id > 0 do
    local = helper(id)
    Item.run(local)
  end
  defp helper(id), do: id
  defmacro twice(e) do
    e
  end
  defstruct [:a, :b]
end
defprotocol Saving do
  def save(x)
end
