package io.idempotency.reactor;

import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.engine.DefaultIdempotencyTemplate.DescribedCall;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Implements {@link ReactiveIdempotencyTemplate} with the reactive engine. */
final class EngineReactiveTemplate implements ReactiveIdempotencyTemplate {

	private final DefaultIdempotencyTemplate template;

	private final Supplier<ReactiveIdempotencyEngine> engine;

	/**
	 * Creates a template.
	 * @param template describes the calls
	 * @param engine supplies the engine, which is created only if reactive calls need it
	 */
	EngineReactiveTemplate(DefaultIdempotencyTemplate template, Supplier<ReactiveIdempotencyEngine> engine) {
		this.template = template;
		this.engine = engine;
	}

	@Override
	public <T> Mono<T> call(String operation, Consumer<? super IdempotencyTemplate.Call> description, Type type,
			Supplier<? extends Publisher<? extends T>> action) {
		return Mono.defer(() -> {
			DescribedCall<T> described = this.template.describe(operation, description, type);
			return this.engine.get().execute(described.call(), new Action<>(described, action), OnDisconnect.CONTINUE);
		});
	}

	/** Adapts the call to the engine. */
	private static final class Action<T> extends ReactiveValueAction<T> {

		private final Supplier<? extends Publisher<? extends T>> action;

		private final @Nullable Callable<?> recovery;

		Action(DescribedCall<T> described, Supplier<? extends Publisher<? extends T>> action) {
			super(described.values());
			this.action = action;
			this.recovery = described.recovery();
		}

		/**
		 * Converts the work to a {@code Mono}. The first value of a {@code Flux} is not
		 * taken with {@code next()}, because that would cancel the work.
		 */
		private static <T> Mono<T> one(Publisher<? extends T> work) {
			return Flux.<T>from(work).singleOrEmpty();
		}

		@Override
		public Mono<T> run() {
			return one(this.action.get());
		}

		@Override
		@SuppressWarnings("unchecked")
		public Mono<T> recover() {
			try {
				Object found = (this.recovery != null) ? this.recovery.call() : null;
				if (found instanceof CompletionStage<?> stage) {
					return Mono.fromCompletionStage((CompletionStage<T>) stage);
				}
				return (found instanceof Publisher<?> publisher) ? one((Publisher<T>) publisher)
						: Mono.justOrEmpty((T) found);
			}
			catch (Exception ex) {
				return Mono.error(ex);
			}
		}

	}

}
