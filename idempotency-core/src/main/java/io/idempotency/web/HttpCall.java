package io.idempotency.web;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import io.idempotency.aop.OperationCall;
import io.idempotency.engine.Door;
import io.idempotency.engine.Execution;
import io.idempotency.store.StoredResult;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpEntity;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * One call of a guarded handler: what it returns is only the beginning of its answer, so
 * the claim is ended by the filter.
 */
final class HttpCall implements Door<Object> {

	/**
	 * Spring tells other filters by this attribute that an answer is written bit by bit.
	 */
	private static final String STREAMING = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

	private final OperationCall call;

	private final HttpServletRequest request;

	private final Exchange exchange;

	private @Nullable ClaimedAnswer answer;

	private boolean run;

	HttpCall(OperationCall call, HttpServletRequest request, Exchange exchange) {
		this.call = call;
		this.request = request;
		this.exchange = exchange;
	}

	@Override
	public @Nullable Object run() throws Throwable {
		this.run = true;
		return this.call.run();
	}

	@Override
	public @Nullable Object recover() throws Throwable {
		return this.call.recover();
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return this.call.isDuplicate(failure);
	}

	@Override
	public @Nullable Object replay(StoredResult result) {
		this.exchange.replayed(StoredResponseCodec.decode(result));
		throw new ReplaySignal();
	}

	@Override
	public void acquired(Execution execution) {
		this.answer = this.exchange.claimed(execution);
	}

	@Override
	public @Nullable Object returned(@Nullable Execution execution, @Nullable Object value, boolean recovered) {
		if (execution == null || this.answer == null) {
			this.exchange.recovered();
			return value;
		}
		if (recovered) {
			this.answer.recovered();
		}
		this.answer.returned();
		Object result = value;
		if (!recovered && this.call.operation().async() && value instanceof CompletionStage<?> stage) {
			result = recovering(stage, this.answer, execution);
		}
		watch(result, this.answer);
		return result;
	}

	/** What the engine does after a duplicate, for one that is known late. */
	private CompletableFuture<@Nullable Object> recovering(CompletionStage<?> stage, ClaimedAnswer claimed,
			Execution execution) {
		CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
		stage.whenComplete((value, thrown) -> {
			Throwable cause = (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause()
					: thrown;
			if (cause == null) {
				result.complete(value);
			}
			else if (isDuplicate(cause)) {
				recover(cause, claimed, execution, result);
			}
			else {
				result.completeExceptionally(thrown);
			}
		});
		return result;
	}

	private void recover(Throwable duplicate, ClaimedAnswer claimed, Execution execution,
			CompletableFuture<@Nullable Object> result) {
		CompletionStage<?> found;
		try {
			Object recovered = execution.policy().recoverable() ? this.call.recover() : null;
			found = (recovered instanceof CompletionStage<?> stage) ? stage
					: CompletableFuture.completedFuture(recovered);
		}
		catch (Throwable ex) {
			found = CompletableFuture.failedFuture(ex);
		}
		found.whenComplete((value, failure) -> {
			if (failure == null && value != null) {
				execution.recovered();
				claimed.recovered();
				result.complete(value);
			}
			else {
				result.completeExceptionally(execution.unavailable(duplicate, failure));
			}
		});
	}

	private void watch(@Nullable Object value, ClaimedAnswer claimed) {
		Object content = (value instanceof HttpEntity<?> entity) ? entity.getBody() : value;
		if (content instanceof ResponseBodyEmitter) {
			claimed.stream();
			return;
		}
		if (content instanceof CompletionStage<?> stage) {
			claimed.work().watch(stage);
		}
		if (content instanceof Callable || content instanceof WebAsyncTask
				|| content instanceof StreamingResponseBody) {
			claimed.work().watchTask();
			WebAsyncUtils.getAsyncManager(this.request).registerCallableInterceptor(claimed.work(), claimed.work());
		}
		if (content != null && !(content instanceof StreamingResponseBody)) {
			// What an asynchronous result turns out to be is known when it is written.
			claimed.response().streamIf(() -> this.request.getAttribute(STREAMING) != null);
		}
	}

	@Override
	public void threw(Execution execution, Throwable failure) {
		if (!this.run) {
			// The look-up has failed: whatever the client is told, nothing is known of
			// the first call.
			execution.release();
		}
		this.exchange.failed(failure);
	}

}
