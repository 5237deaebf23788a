package shop.core
import kotlin.collections.List

/** A store. */
@Serializable
class Store<T>(val size: Int) : Base(), IStore {
    private val items = mutableListOf<T>()
    /** Finds. */
    fun find(id: Int): T { val local = items[id]; return helper(local).run() }
    companion object {
        const val MAX = 3
    }
}
interface IStore {
    fun save()
}
enum class Kind { ONE, TWO }
object Single {
    fun go() {}
}
data class Point(val x: Int)
typealias Name = String
fun String.shout(): String = uppercase()
val limit = 3
