import 'dart:io';

/// A store.
@immutable
class Store<T> extends Base implements Saving {
  final List<T> items = [];
  static const max = 3;
  Store(this.size);
  Store.named(int a);
  /// Finds.
  T find(int id) { var local = items[id]; return helper(local).run(); }
  int get count => items.length;
}
mixin Walker { void walk() {} }
enum Kind { one, two }
extension More on Store { void more() {} }
typedef Name = String;
abstract class Saving { void save(); }
void top(int a) { helper(a); }
const limit = 3;
