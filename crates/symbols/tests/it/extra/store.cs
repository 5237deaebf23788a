using System.Collections.Generic;
namespace Shop.Core;

/// <summary>A store.</summary>
[Serializable]
public class Store<T> : Base, IStore
{
    private readonly List<T> items = new();
    public const int Max = 3;
    public event Action Changed;
    /// <summary>How many.</summary>
    public int Count { get; set; }
    public Store(int size) { Helper.Run(size); }
    public T Find(int id) { var local = items[id]; return local.Clone<T>(); }
    enum Kind { One, Two }
}
public interface IStore { int Count { get; } void Save(); }
public record Point(int X, int Y);
public struct Size { public int Width; }
delegate void Handler(object sender);
