package kotlin.coroutines;

/**
 * Stands in for Kotlin's, which is known by its name: the last parameter of every
 * {@code suspend} function.
 *
 * @param <T> what the function gives
 */
public interface Continuation<T> {

}
