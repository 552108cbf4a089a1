package io.idempotency.engine;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.RecordKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reports events to the listener and to the log. Neither can change the outcome of a
 * call. Thread-safe; throws nothing.
 *
 * @hidden
 */
@Internal
public final class EventPublisher {

	private static final Logger logger = LoggerFactory.getLogger(EventPublisher.class);

	/**
	 * Limits the memory for the logged problems, because an application may create
	 * operation names at run time.
	 */
	private static final int MAX_TOLD = 1000;

	/**
	 * The longest time in {@code Retry-After}. A call may end long before its lease does.
	 */
	private static final Duration MAX_RETRY_AFTER = Duration.ofSeconds(2);

	private final IdempotencyListener listener;

	/**
	 * The problems that were logged as a warning. A problem may affect every call, so it
	 * is a warning only once.
	 */
	private final Set<String> told = ConcurrentHashMap.newKeySet();

	public EventPublisher(IdempotencyListener listener) {
		this.listener = listener;
	}

	public void publish(IdempotencyEvent event, String operation) {
		publish(this.listener, event, operation);
	}

	/** Notifies one listener; its failure is logged. */
	public static void publish(IdempotencyListener listener, IdempotencyEvent event, String operation) {
		run(() -> listener.onEvent(event, operation),
				(ex) -> write(() -> logger.warn(
						"[IDEM-101] Idempotency listener {} failed on event {} of '{}'. "
								+ "The call continues. Fix the listener.",
						listener.getClass().getName(), event, operation, ex)));
	}

	/** Reports why a call is rejected, and creates the exception for its caller. */
	public IdempotencyException rejection(String operation, ClaimResult result) {
		if (result instanceof ClaimResult.InProgress busy) {
			return rejected(IdempotencyEvent.IN_PROGRESS,
					new IdempotencyInProgressException(operation, retryAfter(busy.rest())));
		}
		if (result instanceof ClaimResult.KeyReused) {
			return rejected(IdempotencyEvent.KEY_REUSED, new IdempotencyKeyReusedException(operation));
		}
		if (result instanceof ClaimResult.Duplicate duplicate) {
			return rejected(IdempotencyEvent.DUPLICATE,
					new IdempotencyDuplicateException(operation, duplicate.attempts()));
		}
		if (result instanceof ClaimResult.ResultUnavailable) {
			return rejected(IdempotencyEvent.RESULT_UNAVAILABLE, new IdempotencyResultUnavailableException(operation));
		}
		if (result instanceof ClaimResult.Abandoned) {
			return rejected(IdempotencyEvent.OUTCOME_UNKNOWN, new IdempotencyOutcomeUnknownException(operation));
		}
		if (result instanceof ClaimResult.UnknownToken) {
			return rejected(IdempotencyEvent.TOKEN_UNKNOWN, new IdempotencyTokenUnknownException(operation));
		}
		throw new IllegalStateException("Unknown claim result " + result);
	}

	private IdempotencyException rejected(IdempotencyEvent event, IdempotencyException rejection) {
		publish(event, rejection.operation());
		return rejection;
	}

	/**
	 * Reports that the work was already done but its result was not found, and creates
	 * the exception for the caller.
	 * @param duplicate the exception that means "already done"
	 * @param failure the failure of the lookup, {@code null} if it found nothing
	 */
	public IdempotencyException resultNotFound(String operation, Throwable duplicate, @Nullable Throwable failure) {
		IdempotencyException rejection = rejection(operation, new ClaimResult.ResultUnavailable());
		rejection.initCause(duplicate);
		if (failure != null) {
			rejection.addSuppressed(failure);
		}
		return rejection;
	}

	/**
	 * Returns whether an exception of {@code duplicateOn} is a failure of the work,
	 * because the lookup found no result. Logs such an exception.
	 * @param lookupFailure the failure of the lookup, {@code null} if it found nothing
	 */
	public boolean isNoDuplicate(IdempotencyOptions options, Throwable failure, @Nullable Throwable lookupFailure) {
		if (!options.recoverable() || lookupFailure != null) {
			return false;
		}
		String type = failure.getClass().getName();
		once("duplicate " + type, failure,
				"[IDEM-122] A call of '{}' failed: {} is in duplicateOn, but recover found no result. A retry runs "
						+ "again. If the exception has other reasons than a duplicate, name a narrower exception or set "
						+ "duplicateConstraint. Logged once for each type.",
				options.operation(), type);
		return true;
	}

	private static Duration retryAfter(Duration rest) {
		return (rest.compareTo(MAX_RETRY_AFTER) < 0) ? rest : MAX_RETRY_AFTER;
	}

	/**
	 * Reports a claim that was lost while its call ran. Reads the current owner from the
	 * store, so that both runs can be found.
	 * @param run the origin of the claim
	 */
	public void claimLost(GuardedCall call, ClaimOrigin run) {
		publish(IdempotencyEvent.LEASE_LOST, call.operation());
		logger.warn("[IDEM-102] The claim of '{}' was lost while its call ran, so the call may have run twice. "
				+ "Compare the effects of both runs. To prevent this, set a longer lease. Record {}; this run: {}; "
				+ "now: {}", call.operation(), call.key().hashHex(), run(run.node(), run.traceId()), holder(call));
	}

	/**
	 * Ignores a failure of the store, because the rest of the message is still useful.
	 */
	private static String holder(GuardedCall call) {
		String holder = attempt(() -> call.store()
			.admin()
			.map((admin) -> admin.find(RecordKey.of(call.key()))
				.map((now) -> now.state() + ", " + run(now.node(), now.traceId()))
				.orElse("no record"))
			.orElse(null), (ex) -> {
			});
		return (holder != null) ? holder : "not known";
	}

	private static String run(@Nullable String node, @Nullable String trace) {
		return "node " + ((node != null && !node.isEmpty()) ? node : "not known") + ", trace "
				+ ((trace != null) ? trace : "none");
	}

	/**
	 * Writes a log message within a call. The call continues even if the log, or the
	 * message of an exception of other code, fails.
	 */
	static void write(Runnable message) {
		run(message, (ex) -> {
		});
	}

	/** Runs code like {@link #attempt}. */
	static void run(Runnable code, Consumer<Throwable> failed) {
		attempt(() -> {
			code.run();
			return true;
		}, failed);
	}

	/**
	 * Runs code that must not change the outcome of a call: a listener or an observer.
	 * @param <T> the type of the result
	 * @param failed receives the failure, including errors: the code may fail in any way
	 * @return the result, {@code null} if the code failed
	 */
	public static <T> @Nullable T attempt(Supplier<@Nullable T> code, Consumer<Throwable> failed) {
		try {
			return code.get();
		}
		catch (Throwable ex) {
			failed.accept(ex);
			return null;
		}
	}

	/**
	 * Reports a takeover.
	 * @param before the run that may have had its effect
	 * @param run the run that takes over
	 */
	public void takenOver(GuardedCall call, ClaimOrigin before, ClaimOrigin run) {
		publish(IdempotencyEvent.TAKEN_OVER, call.operation());
		write(() -> logger.info(
				"The lease of record {} of '{}' expired without a result: this call takes over. Previous run: {}; "
						+ "this run: {}",
				call.key().hashHex(), call.operation(), run(before.node(), before.traceId()),
				run(run.node(), run.traceId())));
	}

	void runsUnguarded(GuardedCall call, ClaimOrigin run, StoreCircuitBreaker breaker) {
		publish(IdempotencyEvent.UNGUARDED, call.operation());
		breaker.runsUnguarded(call.operation(), call.key().hashHex(), run(run.node(), run.traceId()));
	}

	/** Reports a call that did not end while its claim may be renewed. */
	void beatsEnded(String operation) {
		logger.warn("[IDEM-103] A detached call of '{}' did not complete within idempotency.max-detached-duration "
				+ "or the retention of its key: its claim is no longer renewed. When the lease expires, its "
				+ "outcome is unknown. If the work takes longer, set a longer idempotency.max-detached-duration.",
				operation);
	}

	void tooManyDetached(String operation, int detached, int most) {
		logger.warn(
				"[IDEM-104] {} detached calls are in progress on this node, and idempotency.max-detached-calls is "
						+ "{}: new calls of '{}' receive 503 until some complete. Find the slow work or raise the "
						+ "limit. Further rejections are logged after the operation has no detached calls.",
				detached, most, operation);
	}

	public void resultNotStored(String operation, Throwable cause) {
		once("store " + cause.getClass().getName(), cause,
				"[IDEM-105] The result of '{}' could not be stored: duplicates receive 409 'result-unavailable'. "
						+ "Return a type that can be stored, or declare recover. Logged once for each cause.",
				operation);
	}

	void resultNotReadable(String operation, Throwable cause) {
		once("read " + cause.getClass().getName(), cause,
				"[IDEM-106] The stored result of '{}' could not be read: duplicates receive 409 "
						+ "'result-unavailable'. If the result type changed, make new properties optional or "
						+ "declare recover. Logged once for each cause.",
				operation);
	}

	void resultNotEncrypted(String operation, Throwable cause) {
		once("encrypt " + cause.getClass().getName(), cause,
				"[IDEM-107] The result of '{}' could not be encrypted and is not stored: duplicates receive 409 "
						+ "'result-unavailable'. Fix the cipher. Logged once for each cause.",
				operation);
	}

	void resultNotDecrypted(String operation, String problem, @Nullable Throwable cause) {
		once("decrypt " + problem, cause, "[IDEM-108] The stored result of '{}' is not replayed: {}. Duplicates "
				+ "receive 409 'result-unavailable'. Check the encryption keys of this node. Logged once for each "
				+ "cause.", operation, problem);
	}

	void notObserved(Throwable cause) {
		once("observe " + cause.getClass().getName(), cause,
				"[IDEM-109] An observer of guarded calls failed. The calls continue, but their metrics or traces "
						+ "may be incomplete. Fix the observer. Logged once for each cause.",
				"");
	}

	/** Logs a problem as a warning once for each operation and cause. */
	private void once(String problem, @Nullable Throwable cause, String message, String... arguments) {
		boolean first = this.told.size() < MAX_TOLD && this.told.add(arguments[0] + " " + problem);
		write(() -> logger.atLevel(first ? Level.WARN : Level.DEBUG)
			.setCause(cause)
			.log(message, (Object[]) arguments));
	}

	public void transactionRepeated(String operation, Throwable cause) {
		publish(IdempotencyEvent.STORE_RETRY, operation);
		write(() -> logger.debug(
				"The database ended the transaction of '{}' that holds its claim; the transaction starts again",
				operation, cause));
	}

	/** Reports a write that the store did not accept for a whole retention. */
	void gaveUp(String verb, String operation) {
		logger.error(
				"[IDEM-110] The store failed to {} a claim of '{}' for its whole retention, and the write is "
						+ "dropped: a retry may run again. Check the effects of the call and restore the store.",
				verb, operation);
	}

	/** Reports a write that is not repeated because the engine was closed. */
	void leftToLease(String verb, String operation) {
		logger.warn("[IDEM-111] The store failed to {} a claim of '{}' after shutdown: the key stays claimed until "
				+ "its lease expires, and a retry may then run again. Let calls complete before the application "
				+ "stops (server.shutdown=graceful).", verb, operation);
	}

	/** Reports the number of writes of each operation that were pending at the close. */
	void closed(Map<String, Integer> left) {
		if (!left.isEmpty()) {
			logger.warn("[IDEM-112] The application stopped with pending writes, by operation: {}. Their keys stay "
					+ "claimed until the leases expire, and retries may then run again. Restore the store and "
					+ "check these operations.", left);
		}
	}

}
