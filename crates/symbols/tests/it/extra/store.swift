import Foundation

/// A store.
@MainActor
public class Store<T>: Base, Saving {
    private let items: [T] = []
    var count: Int { items.count }
    init(size: Int) { helper(size) }
    /// Finds.
    func find(_ id: Int) -> T { let local = items[id]; return self.wrap(local).run() }
}
struct Point { var x: Int }
enum Kind { case one, two(Int) }
protocol Saving { var count: Int { get }
 func save() }
extension Store { func more() {} }
typealias Name = String
func top(a: Int) {}
let limit = 3
