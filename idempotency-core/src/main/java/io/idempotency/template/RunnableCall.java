package io.idempotency.template;

import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.idempotency.IdempotencyTemplate;
import org.jspecify.annotations.Nullable;

/**
 * The ways to run one call of a template. An exception of the action reaches the caller
 * unchanged.
 */
abstract class RunnableCall implements IdempotencyTemplate.Call {

	private final String operation;

	RunnableCall(String operation) {
		this.operation = operation;
	}

	final String operation() {
		return this.operation;
	}

	/**
	 * Checks the declared type before the action runs: a result that could not be
	 * replayed is refused on the first call already.
	 */
	abstract TemplateResult declared(Type type);

	/** Guards the action. */
	abstract <T> @Nullable T guard(TemplateResult result, Callable<? extends @Nullable T> action) throws Throwable;

	@Override
	public <T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action) {
		try {
			return guard(declared(type), action::get);
		}
		catch (Throwable ex) {
			throw RunnableCall.<RuntimeException>unchanged(ex);
		}
	}

	@Override
	public <T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
			Supplier<? extends CompletionStage<? extends @Nullable T>> action) {
		try {
			TemplateResult value = declared(type);
			if (value.async()) {
				throw new IllegalArgumentException("The future of '" + this.operation + "' is that of a value");
			}
			return guardAsync(new TemplateResult(value.type(), true), action);
		}
		catch (Throwable ex) {
			throw RunnableCall.<RuntimeException>unchanged(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private <T> CompletableFuture<@Nullable T> guardAsync(TemplateResult result,
			Supplier<? extends CompletionStage<? extends @Nullable T>> action) throws Throwable {
		CompletionStage<? extends @Nullable T> stage = this.<CompletionStage<? extends @Nullable T>>guard(result,
				action::get);
		return (stage != null) ? (CompletableFuture<@Nullable T>) stage.toCompletableFuture()
				: CompletableFuture.completedFuture(null);
	}

	@Override
	public <T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception {
		try {
			return guard(declared(type), action);
		}
		catch (Throwable ex) {
			throw RunnableCall.<Exception>unchanged(ex);
		}
	}

	/**
	 * Throws any exception without declaring it, because code in other languages throws
	 * checked exceptions that it has not declared.
	 */
	@SuppressWarnings("unchecked")
	private static <X extends Throwable> X unchanged(Throwable ex) throws X {
		throw (X) ex;
	}

	@Override
	public void run(Runnable action) {
		execute(Void.class, () -> {
			action.run();
			return null;
		});
	}

}
