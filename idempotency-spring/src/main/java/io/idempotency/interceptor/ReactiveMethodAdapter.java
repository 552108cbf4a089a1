package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyException;
import io.idempotency.engine.ValueAction;
import io.idempotency.engine.GuardedCall;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveTransactionStarter;
import io.idempotency.reactor.ReactiveValueAction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Guards methods whose caller must not be blocked: those that return publishers, and
 * those that return futures to a Reactor thread. The key is read and claimed when the
 * result is subscribed to, once for each subscription. The result of the method is
 * subscribed to once. Thread-safe.
 */
final class ReactiveMethodAdapter implements InvocationAdapter {

	private final MethodAdapter methods;

	private final Supplier<ReactiveIdempotencyEngine> engine;

	private final SubscribedTransactions transactions;

	private final Supplier<SubscribedRequest> here;

	private final Mono<Principal> login;

	private final Supplier<SubscribedRequest.@Nullable Source> requests;

	/**
	 * Creates the adapter.
	 * @param methods reads keys and fingerprints
	 * @param engine supplies the engine, which only applications with such methods need
	 * @param transactions finds the transactions that records join
	 * @param here supplies the request of the calling thread
	 * @param login returns the user of a subscription, empty if the context has no user.
	 * It does not supply the request, which is that of the calling thread
	 * @param requests supplies the requests of subscribers, {@code null} if the Reactor
	 * context never contains them
	 */
	ReactiveMethodAdapter(MethodAdapter methods, Supplier<ReactiveIdempotencyEngine> engine,
			SubscribedTransactions transactions, Supplier<SubscribedRequest> here, Mono<Principal> login,
			Supplier<SubscribedRequest.@Nullable Source> requests) {
		this.methods = methods;
		this.engine = engine;
		this.transactions = transactions;
		this.here = here;
		this.login = login;
		this.requests = requests;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		return OperationTraits.of(Flag.SUBSCRIBED)
			.withTransactions((form, store) -> form.isSubscribed()
					? this.transactions.of(method, targetClass, this.engine.get().store(store)) : null);
	}

	/** {@inheritDoc} Creates the reactive store, which logs whether it needs threads. */
	@Override
	public void check(IdempotentOperation operation) {
		if (operation.result().form().isSubscribed()) {
			this.engine.get().store(operation.place().store());
		}
	}

	@Override
	public boolean supports(OperationCall call) {
		ResultForm form = call.operation().result().form();
		return form.isSubscribed() || form == ResultForm.FUTURE && Schedulers.isInNonBlockingThread();
	}

	@Override
	public Object invoke(OperationCall call) {
		PublishedResult result = PublishedResult.of(call.operation());
		IdempotentOperation operation = call.operation();
		SubscribedRequest request = this.here.get();
		SubscribedRequest known = operation.key().isOfCaller() ? request.captured(operation.name()) : request;
		Mono<SubscribedRequest> ofThread = this.login.map((user) -> subscribed(known).as(user)).defaultIfEmpty(known);
		SubscribedRequest.Source source = this.requests.get();
		Mono<SubscribedRequest> ofSubscriber = (source != null) ? source.current(operation) : Mono.empty();
		return result
			.answer(ofSubscriber.switchIfEmpty(ofThread).flatMap((current) -> guarded(call.again(), result, current)));
	}

	/** Returns the request. A publisher may be created before the request is known. */
	private SubscribedRequest subscribed(SubscribedRequest known) {
		return (known.values() != RequestValues.NONE) ? known : this.here.get();
	}

	private Mono<Object> guarded(OperationCall call, PublishedResult result, SubscribedRequest request) {
		GuardedCall guarded = this.methods.guarded(call, request.values(), request.owner());
		if (guarded == null) {
			return unguarded(call, result).contextWrite(ReactiveIdempotencyContext::without);
		}
		return this.engine.get()
			.execute(guarded, new PublishedAction(call, this.methods.values(call), result), OnDisconnect.CONTINUE,
					(ReactiveTransactionStarter) call.operation().place().transactions())
			.onErrorComplete((thrown) -> thrown instanceof IdempotencyException rejection && call.skips(rejection));
	}

	private static Mono<Object> unguarded(OperationCall call, PublishedResult result) {
		try (IdempotencyContextHolder.Binding none = IdempotencyContextHolder.bind(null)) {
			return result.unguarded(call.run());
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

	/** Comes before the adapter that supports every call. */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE - 1;
	}

	/** Translates one subscription to the result of a method for the engine. */
	private static final class PublishedAction extends ReactiveValueAction<Object> {

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

}
