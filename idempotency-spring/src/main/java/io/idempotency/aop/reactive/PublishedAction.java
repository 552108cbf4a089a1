package io.idempotency.aop.reactive;

import io.idempotency.aop.OperationCall;
import io.idempotency.engine.ValueAction;
import io.idempotency.reactor.ReactiveValueAction;
import reactor.core.publisher.Mono;

/** Translates one subscription to the result of a method for the engine. */
final class PublishedAction extends ReactiveValueAction<Object> {

	private final OperationCall call;

	private final PublishedResult result;

	PublishedAction(OperationCall call, ValueAction<Object> values, PublishedResult result) {
		super(values);
		this.call = call;
		this.result = result;
	}

	@Override
	public Mono<Object> run() {
		try {
			return this.result.work(this.call.run());
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

	@Override
	public Mono<Object> recover() {
		try {
			return this.result.found(this.call.recover());
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

}
