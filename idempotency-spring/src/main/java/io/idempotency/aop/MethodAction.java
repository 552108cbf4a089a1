package io.idempotency.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.idempotency.engine.SurroundingTransaction;
import io.idempotency.engine.ValueAction;
import io.idempotency.protocol.Ending;
import io.idempotency.protocol.ResultCodec;
import org.jspecify.annotations.Nullable;

/** Translates one call of a method for the engine. */
final class MethodAction extends ValueAction<Object> {

	private final OperationCall call;

	MethodAction(OperationCall call, ResultCodec codec, boolean async) {
		super(codec, call.operation().result().type(), async);
		this.call = call;
	}

	@Override
	public @Nullable Object run() throws Throwable {
		return this.call.run();
	}

	@Override
	public Ending returned(@Nullable Object value, boolean recovered) {
		Ending ending = super.returned(value, recovered);
		return recovered ? ending : this.call.returned(ending);
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return this.call.isDuplicate(failure);
	}

	@Override
	protected boolean isRefusedBefore(Throwable failure) {
		return this.call.isRefusedBefore(failure);
	}

	@Override
	protected int statusOf(Throwable failure) {
		return FailureStatus.of(failure);
	}

	@Override
	protected @Nullable String told(Throwable failure) {
		return this.call.told(failure);
	}

	@Override
	public @Nullable SurroundingTransaction surrounding(@Nullable SurroundingTransaction current) {
		return this.call.operation().place().surrounding().apply(current);
	}

	@Override
	protected @Nullable Object lookUp() throws Throwable {
		return this.call.recover();
	}

	/**
	 * Returns the answer to the caller. If the method gives no value, a value that the
	 * recovery found only means "done", so the caller gets a future of {@code null}.
	 */
	@Nullable Object answer(@Nullable Object result) {
		IdempotentOperation operation = this.call.operation();
		if (operation.result().recover() == null || operation.result().type() != Void.class
				|| !(result instanceof CompletionStage<?> stage)) {
			return result;
		}
		CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
		stage.whenComplete((value, failure) -> {
			if (failure != null) {
				answer.completeExceptionally(failure);
			}
			else {
				answer.complete(null);
			}
		});
		return answer;
	}

}
