package io.idempotency.web;

import java.util.concurrent.CompletionStage;

import io.idempotency.aop.OperationCall;
import io.idempotency.engine.GuardedAction;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.OpenWork;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.SurroundingTransaction;
import io.idempotency.http.StoredResponseCodec;
import io.idempotency.protocol.Ending;
import io.idempotency.store.StoredResult;
import io.idempotency.web.answer.HandlerResult;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * One call of a guarded handler. Its result is only the beginning of its answer, so the
 * filter tells how the call has ended.
 */
final class HttpCall implements GuardedAction<Object> {

	/**
	 * Spring tells other filters by this attribute that an answer is written bit by bit.
	 */
	private static final String STREAMING = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

	private final OperationCall call;

	private final HttpServletRequest request;

	private final Exchange exchange;

	private final IdempotencyEngine engine;

	private @Nullable ClaimedAnswer answer;

	/** Whether other threads may go on when the handler has returned. */
	private boolean goesOn;

	HttpCall(OperationCall call, HttpServletRequest request, Exchange exchange, IdempotencyEngine engine) {
		this.call = call;
		this.request = request;
		this.exchange = exchange;
		this.engine = engine;
	}

	@Override
	public @Nullable SurroundingTransaction surrounding(@Nullable SurroundingTransaction current) {
		return this.call.operation().place().surrounding().apply(current);
	}

	@Override
	public boolean isAsync() {
		return this.call.operation().result().async();
	}

	@Override
	public void acquired(OwnedClaim claim) {
		RecordingRequest guarded = RecordingRequest.find(this.request);
		if (guarded == null) {
			throw Exchange.missing(this.request, "guard the call");
		}
		this.answer = this.exchange.claimed(guarded, claim, this.engine);
	}

	/**
	 * Runs the handler. If the container has refused the request meanwhile, the client
	 * gets that refusal, whatever the handler makes of half a request: its work must fail
	 * and not commit.
	 */
	@Override
	public @Nullable Object run() throws Throwable {
		Object value = this.call.run();
		// A call that runs unguarded has no answer of ours.
		if (this.answer != null && this.answer.isRefusedByContainer()) {
			throw new Answer.ReplaySignal();
		}
		return value;
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
		this.exchange.replayed(StoredResponseCodec.decode(result), this.request, this.call.operation().name());
		throw new Answer.ReplaySignal();
	}

	@Override
	public Object replayRecovered(Object value) {
		this.exchange.recovered();
		return value;
	}

	@Override
	public void deferred(CompletionStage<?> stage) {
		ClaimedAnswer claimed = answer();
		claimed.returned();
		watch(stage, claimed);
	}

	@Override
	public Ending returned(@Nullable Object value, boolean recovered) {
		ClaimedAnswer claimed = answer();
		if (recovered) {
			claimed.recovered();
		}
		claimed.returned();
		if (!isAsync()) {
			watch(value, claimed);
		}
		return claimed.ending();
	}

	/**
	 * Leaves the transaction open until the answer is made, if nothing else needs its end
	 * before. A handler that has begun an asynchronous request by itself may have its
	 * answer written by another thread.
	 */
	@Override
	public boolean takes(OpenWork work) {
		return !this.goesOn && !this.request.isAsyncStarted() && this.exchange.isMadeInside() && answer().holds(work);
	}

	private void watch(@Nullable Object value, ClaimedAnswer claimed) {
		Object content = HandlerResult.content(value);
		this.goesOn = HandlerResult.goesOn(content);
		if (content instanceof ResponseBodyEmitter || HandlerResult.isStream(value)) {
			claimed.stream();
			return;
		}
		if (content instanceof CompletionStage<?> stage) {
			claimed.work().watch(stage);
		}
		if (HandlerResult.isTask(content)) {
			claimed.work().watchTask();
			claimed.work().observe(this.request);
		}
		if (HandlerResult.isReactive(content)) {
			claimed.work().cancelledInTime();
		}
		if (content != null && !(content instanceof StreamingResponseBody)) {
			// An asynchronous result may turn out to be a stream only when it is written.
			claimed.response().streamIf(() -> this.request.getAttribute(STREAMING) != null);
		}
	}

	@Override
	public Ending threw(Throwable failure) {
		if (this.call.isRefusedBefore(failure)) {
			answer().nothingRan();
		}
		this.exchange.failed(failure);
		return answer().undone();
	}

	@Override
	public Ending threwAfterCommit(Throwable failure) {
		answer().committed();
		this.exchange.failed(failure);
		return answer().ending();
	}

	/** Lets the answer that the client sees decide. */
	@Override
	public Ending gaveUp(Throwable failure) {
		return answer().ending();
	}

	private ClaimedAnswer answer() {
		if (this.answer == null) {
			throw new IllegalStateException("Nothing was claimed");
		}
		return this.answer;
	}

}
