package shop.core
import scala.collection.mutable

/** A store. */
class Store[T](size: Int) extends Base with Saving {
  private val items = mutable.Buffer[T]()
  var n = 1
  /** Finds. */
  def find(id: Int): T = { val local = items(id); helper(local).run() }
}
object Store { def apply(): Int = 1 }
trait Saving { def save(): Unit }
case class Point(x: Int)
enum Kind { case One, Two }
type Name = String
given ordering: Ordering[Int] = ???
def top(a: Int): Int = a
