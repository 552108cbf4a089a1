package io.idempotency.engine;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.idempotency.engine.GuardedAction.TransactionHandle;
import org.jspecify.annotations.Nullable;

/** A door whose parts are given by a test; counts. */
public final class TestAction<T> extends ValueAction<T> {

	private final Action<T> action;

	private Action<T> recovery = () -> null;

	private @Nullable Class<? extends Throwable> duplicateOn;

	private @Nullable Consumer<TransactionHandle> taker;

	private final AtomicInteger runs = new AtomicInteger();

	private final AtomicInteger recoveries = new AtomicInteger();

	private TestAction(boolean async, Action<T> action) {
		super(new TextCodec(), String.class, async);
		this.action = action;
	}

	public static <T> TestAction<T> running(Action<T> action) {
		return new TestAction<>(false, action);
	}

	public static <T> TestAction<T> returning(@Nullable T value) {
		return running(() -> value);
	}

	public static <T> TestAction<T> throwing(Throwable failure) {
		return running(() -> {
			throw failure;
		});
	}

	public static <S extends CompletionStage<String>> TestAction<S> async(Action<S> action) {
		return new TestAction<>(true, action);
	}

	public TestAction<T> recovering(Action<T> recovery) {
		this.recovery = recovery;
		return this;
	}

	public TestAction<T> duplicateOn(Class<? extends Throwable> duplicateOn) {
		this.duplicateOn = duplicateOn;
		return this;
	}

	/** Takes the end of the transaction over, for the test. */
	TestAction<T> taking(Consumer<TransactionHandle> taker) {
		this.taker = taker;
		return this;
	}

	@Override
	public boolean takes(TransactionHandle work) {
		Consumer<TransactionHandle> takes = this.taker;
		if (takes != null) {
			takes.accept(work);
		}
		return takes != null;
	}

	public int runs() {
		return this.runs.get();
	}

	public int recoveries() {
		return this.recoveries.get();
	}

	@Override
	public @Nullable T run() throws Throwable {
		this.runs.incrementAndGet();
		return this.action.run();
	}

	@Override
	protected @Nullable Object lookUp() throws Throwable {
		this.recoveries.incrementAndGet();
		return this.recovery.run();
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return this.duplicateOn != null && this.duplicateOn.isInstance(failure);
	}

	/** What a door does; may throw anything. */
	@FunctionalInterface
	public interface Action<T> {

		@Nullable T run() throws Throwable;

	}

}
