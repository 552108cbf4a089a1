package io.idempotency.webflux;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoOperator;
import reactor.util.context.Context;

import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.result.method.InvocableHandlerMethod;

/**
 * Knows which way through a handler the current thread goes, for handlers that return
 * values: their advice sees no Reactor context. It is the thread of whoever has brought
 * the last argument, who may be at work for another request.
 * <p>
 * So the way is bound to what Spring puts together for the request: each {@code Mono}
 * that is made on a thread of a way is subscribed, and signals, on that way. The one
 * whose value is the arguments, and next to which the handler is called, is among them.
 * Thread-safe.
 */
final class BoundPass {

	private static final ThreadLocal<Binding> CURRENT = new ThreadLocal<>();

	private static final String HOOK = BoundPass.class.getName();

	/** Not there any more when the handler was called. */
	private volatile @Nullable Pass pass;

	private BoundPass(Pass begun) {
		this.pass = begun;
	}

	/** Binds ways to what is made on them, from here on. May be done repeatedly. */
	static void follow() {
		initialize();
		Hooks.onEachOperator(HOOK, BoundPass::follow);
	}

	/**
	 * Spring has a constant with the {@code Mono} of no arguments. It must not be made on
	 * the way of the first request, where it would lead the handlers of all others.
	 */
	private static void initialize() {
		try {
			Class.forName(InvocableHandlerMethod.class.getName(), true, InvocableHandlerMethod.class.getClassLoader());
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Leads to a handler, until it was called.
	 * @param calling calls the handler
	 * @param begun the way
	 * @return what calls the handler on that way
	 */
	static Mono<HandlerResult> lead(Mono<HandlerResult> calling, Pass begun) {
		return Mono.defer(() -> {
			BoundPass bound = new BoundPass(begun);
			return new Beginning(calling, bound).doOnEach((signal) -> bound.pass = null)
				.doOnCancel(() -> bound.pass = null);
		});
	}

	@SuppressWarnings("unchecked")
	private static Publisher<Object> follow(Publisher<Object> made) {
		Binding current = CURRENT.get();
		return (current != null && current.bound().pass != null && made instanceof Mono<?> mono)
				? new Following<>((Mono<Object>) mono, new Binding(current.bound(), true)) : made;
	}

	/** Has no way until it is closed: other code begins. */
	static Scope leave() {
		return bind(null);
	}

	private static Scope bind(@Nullable Binding binding) {
		Binding before = CURRENT.get();
		set(binding);
		return () -> set(before);
	}

	private static void set(@Nullable Binding binding) {
		if (binding != null) {
			CURRENT.set(binding);
		}
		else {
			CURRENT.remove();
		}
	}

	/**
	 * Returns the way of the current thread, if it leads to a method.
	 * @param method the method
	 */
	static @Nullable Pass to(Method method) {
		Binding current = CURRENT.get();
		Pass pass = (current != null && current.followed()) ? current.bound().pass : null;
		return (pass != null && pass.leadsTo(method)) ? pass : null;
	}

	/**
	 * What a thread is on.
	 *
	 * @param bound the way
	 * @param followed whether what is bound to it has led there. If nothing is, because
	 * somebody has reset the hooks of Reactor, no way is sure
	 */
	private record Binding(BoundPass bound, boolean followed) {
	}

	/** Until it is closed, a thread is on a way. */
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

	/** Puts together on a way. */
	private static final class Beginning extends MonoOperator<HandlerResult, HandlerResult> {

		private final Binding binding;

		Beginning(Mono<HandlerResult> source, BoundPass bound) {
			super(source);
			this.binding = new Binding(bound, false);
		}

		@Override
		public void subscribe(CoreSubscriber<? super HandlerResult> actual) {
			try (Scope scope = bind(this.binding)) {
				this.source.subscribe(actual);
			}
		}

	}

	/** What was put together on a way. */
	private static final class Following<T> extends MonoOperator<T, T> {

		private final Binding binding;

		Following(Mono<T> source, Binding binding) {
			super(source);
			this.binding = binding;
		}

		@Override
		public void subscribe(CoreSubscriber<? super T> actual) {
			try (Scope scope = bind(this.binding)) {
				this.source.subscribe(new BoundSubscriber<>(actual, this.binding));
			}
		}

	}

	/** Is a subscription of its own, so that no signal is fetched past it. */
	private static final class BoundSubscriber<T> implements CoreSubscriber<T>, Subscription, Scannable {

		private final CoreSubscriber<? super T> actual;

		private final Binding binding;

		private @Nullable Subscription upstream;

		BoundSubscriber(CoreSubscriber<? super T> actual, Binding binding) {
			this.actual = actual;
			this.binding = binding;
		}

		@Override
		public Context currentContext() {
			return this.actual.currentContext();
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			this.upstream = subscription;
			this.actual.onSubscribe(this);
		}

		@Override
		public void onNext(T value) {
			try (Scope scope = bind(this.binding)) {
				this.actual.onNext(value);
			}
		}

		@Override
		public void onError(Throwable failure) {
			try (Scope scope = bind(this.binding)) {
				this.actual.onError(failure);
			}
		}

		@Override
		public void onComplete() {
			try (Scope scope = bind(this.binding)) {
				this.actual.onComplete();
			}
		}

		@Override
		public void request(long count) {
			Subscription source = this.upstream;
			if (source != null) {
				source.request(count);
			}
		}

		@Override
		public void cancel() {
			Subscription source = this.upstream;
			if (source != null) {
				source.cancel();
			}
		}

		@Override
		@SuppressWarnings("rawtypes")
		public @Nullable Object scanUnsafe(Attr key) {
			return (key == Attr.ACTUAL) ? this.actual : (key == Attr.PARENT) ? this.upstream : null;
		}

	}

}
