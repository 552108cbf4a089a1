package io.idempotency.webflux;

import java.util.List;

import io.idempotency.interceptor.GuardedMethod;
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

/**
 * Knows which way through a handler the current thread goes, for handlers that return
 * values: their advice sees no Reactor context. It is the thread of whoever has brought
 * the last argument, who may be at work for another request.
 * <p>
 * So each {@code Mono} that is put together on a thread of a way is subscribed, and
 * signals, on the way that the context of its subscriber tells: it may be kept, and serve
 * other requests. The one whose value is the arguments, and next to which the handler is
 * called, is among them. Thread-safe.
 */
final class BoundPass {

	private static final ThreadLocal<@Nullable Binding> CURRENT = new ThreadLocal<>();

	private static final Scope AS_BEFORE = () -> {
	};

	private static final String HOOK = BoundPass.class.getName();

	private static final Class<?> OF_ARGUMENTS = ofArguments();

	/** Where the way was begun: nothing has led on from there, so no way is sure. */
	private final Binding begun = new Binding(this, false);

	private final Binding followed = new Binding(this, true);

	/** Not there any more when the handler was called. */
	private volatile @Nullable Pass pass;

	private BoundPass(Pass begun) {
		this.pass = begun;
	}

	/**
	 * What Spring puts arguments together with. The thread is that of no way, or of
	 * another one, where an adapter of the application has left it.
	 */
	private static Class<?> ofArguments() {
		Mono<?> made = Mono.zip(List.of(Mono.empty()), (values) -> values);
		// The hooks of others may have it in what is around each operator.
		return (made instanceof MonoOperator<?, ?>) ? BoundPass.class : made.getClass();
	}

	/** Leads on what is made on ways, from here on. May be done repeatedly. */
	static void follow() {
		Hooks.onEachOperator(HOOK, BoundPass::follow);
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
			return new Beginning(calling, bound).contextWrite((context) -> context.put(BoundPass.class, bound))
				.doOnEach((signal) -> bound.pass = null)
				.doOnCancel(() -> bound.pass = null);
		});
	}

	@SuppressWarnings("unchecked")
	private static Publisher<Object> follow(Publisher<Object> made) {
		return (made.getClass() == OF_ARGUMENTS || CURRENT.get() != null && made instanceof Mono<?>)
				? new Following<>((Mono<Object>) made) : made;
	}

	/** Has no way until it is closed: other code begins. */
	static Scope leave() {
		return bind(null);
	}

	private static Scope bind(@Nullable Binding binding) {
		Binding before = CURRENT.get();
		if (before == binding) {
			return AS_BEFORE;
		}
		CURRENT.set(binding);
		return () -> CURRENT.set(before);
	}

	/**
	 * Returns the way of the current thread, if it leads to a method.
	 * @param guarded the method
	 */
	static @Nullable Pass to(GuardedMethod guarded) {
		Binding current = CURRENT.get();
		Pass pass = (current != null && current.isFollowed()) ? current.bound().pass : null;
		return (pass != null && pass.leadsTo(guarded)) ? pass : null;
	}

	/**
	 * What a thread is on.
	 *
	 * @param bound the way
	 * @param isFollowed whether what was made on it has led there. If nothing has,
	 * because somebody has reset the hooks of Reactor, no way is sure
	 */
	private record Binding(BoundPass bound, boolean isFollowed) {
	}

	/** Until it is closed, a thread is on a way. */
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

	/** Puts together on a way. */
	private static final class Beginning extends MonoOperator<HandlerResult, HandlerResult> {

		private final BoundPass bound;

		Beginning(Mono<HandlerResult> source, BoundPass bound) {
			super(source);
			this.bound = bound;
		}

		@Override
		public void subscribe(CoreSubscriber<? super HandlerResult> actual) {
			try (Scope scope = bind(this.bound.begun)) {
				this.source.subscribe(actual);
			}
		}

	}

	/** What was put together on a way. It belongs to none: somebody may keep it. */
	private static final class Following<T> extends MonoOperator<T, T> {

		Following(Mono<T> source) {
			super(source);
		}

		@Override
		public void subscribe(CoreSubscriber<? super T> actual) {
			BoundPass bound = actual.currentContext().getOrDefault(BoundPass.class, null);
			if (bound == null) {
				// Nobody knows whose work this is.
				try (Scope scope = leave()) {
					this.source.subscribe(actual);
				}
				return;
			}
			try (Scope scope = bind(bound.followed)) {
				this.source.subscribe(new BoundSubscriber<>(actual, bound.followed));
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
