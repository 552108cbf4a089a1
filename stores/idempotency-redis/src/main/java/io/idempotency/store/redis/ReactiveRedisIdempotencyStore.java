package io.idempotency.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.Renewal;
import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The form of a {@link RedisIdempotencyStore} that does not block: the same scripts, the
 * same records and the same time-out, through the connection of Lettuce that the other
 * form uses.
 * <p>
 * A cancelled step is applied all the same, and leaves nothing behind. Answers come on
 * the threads of {@link Schedulers#parallel()}, never on one of Lettuce. Thread-safe. It
 * is used no longer than the store that it is a form of, which closes its connections.
 *
 * @since 0.1.0
 */
public final class ReactiveRedisIdempotencyStore implements ReactiveIdempotencyStore {

	private final RedisIdempotencyStore store;

	private final ScriptComposer steps;

	private final LettuceScriptRunner scripts;

	private final Scheduler scheduler = Schedulers.parallel();

	private ReactiveRedisIdempotencyStore(RedisIdempotencyStore store, LettuceScriptRunner scripts) {
		this.store = store;
		this.steps = store.steps();
		this.scripts = scripts;
	}

	/**
	 * Returns the form of a store that does not block.
	 * @param store the store
	 * @return its form, empty if it has none: Jedis always blocks
	 */
	public static Optional<ReactiveRedisIdempotencyStore> of(RedisIdempotencyStore store) {
		return (store.scripts() instanceof LettuceScriptRunner lettuce)
				? Optional.of(new ReactiveRedisIdempotencyStore(store, lettuce)) : Optional.empty();
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return make(this.steps.claim(request));
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return make(this.steps.complete(completion));
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return make(this.steps.release(key, claimId));
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return make(this.steps.renew(key, claimId, lease));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * All scripts are sent without a wait between them.
	 */
	@Override
	public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		List<Renewal> all = List.copyOf(renewals);
		return all.isEmpty() ? Mono.just(Set.of()) : carryOut(Verb.RENEW, (deadline) -> runAll(all, deadline))
			.map((replies) -> ScriptComposer.refused(all, replies));
	}

	private CompletableFuture<List<Long>> runAll(List<Renewal> renewals, Deadline deadline) {
		List<CompletableFuture<Long>> sent = new ArrayList<>(renewals.size());
		for (byte[][] keyAndArguments : this.steps.renewAll(renewals)) {
			sent.add(run(Verb.RENEW, keyAndArguments, deadline));
		}
		return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).handle((done, failed) -> {
			if (failed != null) {
				throw failure(sent);
			}
			return sent.stream().map(CompletableFuture::join).toList();
		});
	}

	/** One script may not have left, but the others may have. */
	private static RuntimeException failure(List<CompletableFuture<Long>> sent) {
		List<Throwable> failures = sent.stream()
			.filter(CompletableFuture::isCompletedExceptionally)
			.map((step) -> step.handle((reply, failure) -> failure).join())
			.toList();
		boolean noneLeft = failures.size() == sent.size()
				&& failures.stream().allMatch(NotSentException.class::isInstance);
		Throwable first = failures.stream()
			.filter((failure) -> noneLeft || !(failure instanceof NotSentException))
			.findFirst()
			.orElseGet(() -> ((NotSentException) failures.get(0)).reason());
		return (first instanceof RuntimeException ex) ? ex : new CompletionException(first);
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return make(this.steps.issue(token, timeToLive));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * A plain {@code GET}, as {@link RedisIdempotencyStore#find} sends it.
	 */
	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return carryOut("look",
				(deadline) -> Step.get(this.scripts.connecting(deadline), this.steps.key(key), deadline,
						this.scheduler))
			.mapNotNull((record) -> RedisIdempotencyStore.found(record, fingerprint).orElse(null));
	}

	@Override
	public RedisIdempotencyStore blocking() {
		return this.store;
	}

	private <R, T> Mono<T> make(ScriptComposer.Step<R, T> step) {
		return this.<R>carryOut(step.verb(), (deadline) -> run(step.verb(), step.keyAndArguments(), deadline))
			.map(step.answer());
	}

	private <R> CompletableFuture<R> run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
		return Step.run(this.scripts.connecting(deadline), verb, keyAndArguments, deadline, this.scheduler);
	}

	/**
	 * Makes a step for each subscription. The reply, or the failure, of a step whose
	 * subscription was cancelled is told nobody.
	 */
	private <R> Mono<R> carryOut(Object verb, Function<Deadline, CompletableFuture<R>> step) {
		return Mono.<R>create((sink) -> {
			AtomicBoolean cancelled = new AtomicBoolean();
			sink.onCancel(() -> cancelled.set(true));
			step.apply(this.store.deadline()).whenComplete((reply, failure) -> {
				if (cancelled.get()) {
					return;
				}
				if (failure != null) {
					sink.error(this.store.failure(verb, cause(failure)));
				}
				else {
					sink.success(reply);
				}
			});
		}).publishOn(this.scheduler);
	}

	private static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
	}

	/**
	 * One script, or a {@code GET}, for a caller that does not wait. It is given up at
	 * its deadline, wherever it is then: before there is a connection, in the queue of
	 * Lettuce, or on its way. A caller that is not interested any more changes nothing,
	 * so there is no moment between a script that the server does not know and the text
	 * of it at which a cancel could break in.
	 *
	 * @param <T> the Java type of the reply
	 */
	private static final class Step<T> {

		private final CompletableFuture<T> answer = new CompletableFuture<>();

		/**
		 * Makes the text of the script, {@code null} once it is sent, and for no script.
		 */
		private @Nullable Supplier<LettuceScript<T>> whole;

		/** What is sent, or is to be sent. */
		private volatile LettuceScript<T> script;

		private volatile boolean over;

		private Step(LettuceScript<T> script, @Nullable Supplier<LettuceScript<T>> whole) {
			this.script = script;
			this.whole = whole;
		}

		/**
		 * Runs a script, in a cluster on the node of its key.
		 * @param <T> the Java type of the verb's reply
		 * @param connection the connection, soon
		 * @param verb the verb
		 * @param keyAndArguments the key, then the arguments
		 * @param deadline when the step is given up
		 * @param timers ends it then
		 * @return the reply; fails with a {@link NotSentException} if the script did not
		 * leave and never will
		 */
		static <T> CompletableFuture<T> run(CompletableFuture<StatefulConnection<byte[], byte[]>> connection, Verb verb,
				byte[][] keyAndArguments, Deadline deadline, Scheduler timers) {
			return new Step<>(LettuceScript.<T>named(verb, keyAndArguments),
					() -> LettuceScript.whole(verb, keyAndArguments))
				.begin(connection, deadline, timers);
		}

		/**
		 * Reads a value, in a cluster on the node of its key, and otherwise as a script.
		 */
		static CompletableFuture<byte @Nullable []> get(
				CompletableFuture<StatefulConnection<byte[], byte[]>> connection, byte[] key, Deadline deadline,
				Scheduler timers) {
			return new Step<>(LettuceScript.get(key), null).begin(connection, deadline, timers);
		}

		private CompletableFuture<T> begin(CompletableFuture<StatefulConnection<byte[], byte[]>> connection,
				Deadline deadline, Scheduler timers) {
			Disposable timer = timers.schedule(this::over, deadline.rest(), TimeUnit.NANOSECONDS);
			this.answer.whenComplete((reply, failure) -> timer.dispose());
			connection.whenComplete((opened, failure) -> {
				if (failure != null) {
					this.answer.completeExceptionally(NotSentException.because(failure));
				}
				else {
					send(opened, this.script);
				}
			});
			return this.answer;
		}

		private void send(StatefulConnection<byte[], byte[]> connection, LettuceScript<T> next) {
			this.script = next;
			if (this.over) {
				giveUp(next, timeout());
				return;
			}
			try {
				next.reply(connection).whenComplete((reply, failure) -> replied(connection, next, reply, failure));
			}
			catch (RuntimeException ex) {
				giveUp(next, ex);
			}
		}

		private void replied(StatefulConnection<byte[], byte[]> connection, LettuceScript<T> sent, T reply,
				@Nullable Throwable failure) {
			Supplier<LettuceScript<T>> text = this.whole;
			if (failure == null) {
				this.answer.complete(reply);
			}
			else if (failure instanceof RedisNoScriptException && text != null) {
				this.whole = null;
				send(connection, text.get());
			}
			else if (!this.over) {
				giveUp(sent, failure);
			}
		}

		private void over() {
			this.over = true;
			giveUp(this.script, timeout());
		}

		private static RedisCommandTimeoutException timeout() {
			return new RedisCommandTimeoutException("No reply in time");
		}

		private void giveUp(LettuceScript<T> sent, Throwable reason) {
			this.answer.completeExceptionally(sent.withdraw() ? NotSentException.because(reason) : reason);
		}

	}

}
