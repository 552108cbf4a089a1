package io.idempotency.webflux;

import java.util.function.Consumer;

import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;
import reactor.util.context.Context;

import org.reactivestreams.Subscription;

/**
 * Catches JVM errors of the handler and of the code that renders its result. Reactor
 * throws them instead of signalling them, so the request would never end.
 */
final class JvmErrors extends FluxOperator<Object, Object> {

	private final Consumer<Throwable> caught;

	JvmErrors(Flux<Object> source, Consumer<Throwable> caught) {
		super(source);
		this.caught = caught;
	}

	private void run(Runnable signal) {
		try {
			signal.run();
		}
		catch (LinkageError | VirtualMachineError ex) {
			this.caught.accept(ex);
		}
	}

	@Override
	public void subscribe(CoreSubscriber<? super Object> actual) {
		run(() -> this.source.subscribe(new CoreSubscriber<Object>() {

			@Override
			public Context currentContext() {
				return actual.currentContext();
			}

			@Override
			public void onSubscribe(Subscription subscription) {
				run(() -> actual.onSubscribe(subscription));
			}

			@Override
			public void onNext(Object value) {
				run(() -> actual.onNext(value));
			}

			@Override
			public void onError(Throwable thrown) {
				run(() -> actual.onError(thrown));
			}

			@Override
			public void onComplete() {
				run(actual::onComplete);
			}

		}));
	}

}
