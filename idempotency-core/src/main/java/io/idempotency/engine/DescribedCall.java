package io.idempotency.engine;

import java.util.concurrent.Callable;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * A call of a template that another engine guards.
 *
 * @param call what the engine is told
 * @param values keeps and gives the values; it is not run
 * @param recovery looks the result up, {@code null} if nothing does
 * @hidden
 */
@Internal
public record DescribedCall<T>(GuardedCall call, ValueAction<T> values, @Nullable Callable<?> recovery) {

}
