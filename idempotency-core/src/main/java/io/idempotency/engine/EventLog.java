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
 * Reports events to the listener and to the log; neither can change the outcome of a
 * call. Thread-safe, and throws nothing.
 *
 * @hidden
 */
@Internal
public final class EventLog implements ResultSealer.Log {

	private static final Logger logger = LoggerFactory.getLogger(EventLog.class);

	/**
	 * Limits the memory of the logged problems, because an application may make up names
	 * of operations at run time.
	 */
	private static final int MAX_TOLD = 1000;

	/**
	 * A lease does not say when a call ends, so no client is told to wait longer than
	 * this.
	 */
	private static final Duration MAX_RETRY_AFTER = Duration.ofSeconds(2);

	private final IdempotencyListener listener;

	/**
	 * The problems that were logged as a warning. A problem may meet every call, so it is
	 * a warning only once.
	 */
	private final Set<String> told = ConcurrentHashMap.newKeySet();

	public EventLog(IdempotencyListener listener) {
		this.listener = listener;
	}

	public void publish(IdempotencyEvent event, String operation) {
		publish(this.listener, event, operation);
	}

	/** Notifies one listener; its failure is logged. */
	public static void publish(IdempotencyListener listener, IdempotencyEvent event, String operation) {
		attempt(() -> {
			listener.onEvent(event, operation);
			return true;
		}, (ex) -> write(() -> logger.warn("The listener {} failed on {} of '{}'; the call goes on",
				listener.getClass().getName(), event, operation, ex)));
	}

	/** Reports why a call is refused, and creates the exception for its caller. */
	public IdempotencyException refusal(String operation, ClaimResult result) {
		if (result instanceof ClaimResult.InProgress busy) {
			publish(IdempotencyEvent.IN_PROGRESS, operation);
			return new IdempotencyInProgressException(operation, retryAfter(busy.rest()));
		}
		if (result instanceof ClaimResult.KeyReused) {
			publish(IdempotencyEvent.KEY_REUSED, operation);
			return new IdempotencyKeyReusedException(operation);
		}
		if (result instanceof ClaimResult.Duplicate duplicate) {
			publish(IdempotencyEvent.DUPLICATE, operation);
			return new IdempotencyDuplicateException(operation, duplicate.attempts());
		}
		if (result instanceof ClaimResult.ResultUnavailable) {
			publish(IdempotencyEvent.RESULT_UNAVAILABLE, operation);
			return new IdempotencyResultUnavailableException(operation);
		}
		if (result instanceof ClaimResult.Abandoned) {
			publish(IdempotencyEvent.OUTCOME_UNKNOWN, operation);
			return new IdempotencyOutcomeUnknownException(operation);
		}
		if (result instanceof ClaimResult.UnknownToken) {
			publish(IdempotencyEvent.TOKEN_UNKNOWN, operation);
			return new IdempotencyTokenUnknownException(operation);
		}
		throw new IllegalStateException("Unknown claim result " + result);
	}

	/**
	 * Reports that the work was done already, but its result was not found, and creates
	 * the exception for the caller.
	 * @param duplicate the exception that says so
	 * @param failure the failure of the look-up, {@code null} if it found nothing
	 */
	public IdempotencyException resultNotFound(String operation, Throwable duplicate, @Nullable Throwable failure) {
		IdempotencyException refusal = refusal(operation, new ClaimResult.ResultUnavailable());
		refusal.initCause(duplicate);
		if (failure != null) {
			refusal.addSuppressed(failure);
		}
		return refusal;
	}

	private static Duration retryAfter(Duration rest) {
		return (rest.compareTo(MAX_RETRY_AFTER) < 0) ? rest : MAX_RETRY_AFTER;
	}

	/**
	 * Reports a claim that was lost while its owner was at work, and asks the store who
	 * has it now, so that both runs can be found.
	 * @param run where the claim came from
	 */
	public void claimLost(GuardedCall call, ClaimOrigin run) {
		String operation = call.operation();
		write(() -> logger
			.warn("A claim of '{}' was lost while its owner was at work: its lease ran out and another call took the "
					+ "key, or its record was removed by an operator or the store; lengthen the lease, or shut late owners "
					+ "out downstream by the fencing token. Record {}; this run: {}; now: {}", operation,
					call.key().hashHex(), run(run.node(), run.traceId()), holder(call)));
		publish(IdempotencyEvent.LEASE_LOST, operation);
	}

	/** The store may be unavailable, and the rest of the message is still useful. */
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
	 * Writes a log message. A broken appender does not end the call.
	 * @param message writes the message
	 * @return whether the message was written; errors are not thrown
	 */
	public static boolean write(Runnable message) {
		return attempt(() -> {
			message.run();
			return true;
		}, (ex) -> {
		}) != null;
	}

	/**
	 * Runs code that must not change the outcome of a call: a listener, an observer, an
	 * appender.
	 * @param <T> the type of the result
	 * @param failed receives the failure; errors too, because the code may be broken in
	 * any way
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
	 * Reports a take-over.
	 * @param before the run that may have had its effect
	 * @param run the run that takes over
	 */
	public void takenOver(GuardedCall call, ClaimOrigin before, ClaimOrigin run) {
		write(() -> logger.info(
				"A call of '{}' takes over record {} from a run that has not ended within its lease: {}; this run: "
						+ "{}",
				call.operation(), call.key().hashHex(), run(before.node(), before.traceId()),
				run(run.node(), run.traceId())));
		publish(IdempotencyEvent.TAKEN_OVER, call.operation());
	}

	void runsUnguarded(GuardedCall call, ClaimOrigin run, Outage outage) {
		outage.runsUnguarded(call.operation(), call.key().hashHex(), run(run.node(), run.traceId()));
		publish(IdempotencyEvent.UNGUARDED, call.operation());
	}

	/** Reports a call that did not end while its claim may be renewed. */
	void beatsEnded(String operation) {
		write(() -> logger
			.warn("A call of '{}' did not end within idempotency.max-detached-duration after its caller was gone, or "
					+ "within the retention of its key: its claim is renewed no more, and its outcome is unknown when "
					+ "the lease expires. If its work takes longer, set a longer duration", operation));
	}

	void tooManyDetached(String operation, int detached, int most) {
		write(() -> logger.warn(
				"{} calls of this node continue after their callers are gone, and idempotency.max-detached-calls is {}: "
						+ "new calls of '{}' receive 503 until some have completed. Further rejections of the "
						+ "operation are not logged until it has no such calls",
				detached, most, operation));
	}

	@Override
	public void resultNotStored(String operation, Throwable cause) {
		write(() -> logger.atLevel(first(operation, "store " + cause.getClass().getName()))
			.setCause(cause)
			.log("The result of '{}' could not be stored; duplicates are told that it is not available. Told once for "
					+ "each cause", operation));
	}

	public void resultNotReadable(String operation, Throwable cause) {
		write(() -> logger.atLevel(first(operation, "read " + cause.getClass().getName()))
			.setCause(cause)
			.log("The stored result of '{}' could not be read. Told once for each cause", operation));
	}

	@Override
	public void resultNotEncrypted(String operation, Throwable cause) {
		write(() -> logger.atLevel(first(operation, "encrypt " + cause.getClass().getName()))
			.setCause(cause)
			.log("The result of '{}' could not be encrypted and is not stored; duplicates are told that it is not "
					+ "available. Told once for each cause", operation));
	}

	@Override
	public void resultNotDecrypted(String operation, String problem, @Nullable Throwable cause) {
		write(() -> logger.atLevel(first(operation, "decrypt " + problem))
			.setCause(cause)
			.log("The stored result of '{}' is not replayed: {}. Told once for each cause", operation, problem));
	}

	private Level first(String operation, String cause) {
		return (this.told.size() < MAX_TOLD && this.told.add(operation + " " + cause)) ? Level.WARN : Level.DEBUG;
	}

	public void notObserved(Throwable cause) {
		write(() -> logger.atLevel(first("", "observe " + cause.getClass().getName()))
			.setCause(cause)
			.log("An observer of guarded calls failed; the call goes on. Told once for each cause"));
	}

	public void transactionRepeated(String operation, Throwable cause) {
		write(() -> logger.debug("The database has ended the transaction of '{}' with its claim; it is begun again",
				operation, cause));
		publish(IdempotencyEvent.STORE_RETRY, operation);
	}

	/** Reports a write that the store has not taken for a whole retention. */
	void gaveUp(String verb, String operation) {
		write(() -> logger.error("The store failed to {} a claim of '{}' for its whole retention; given up", verb,
				operation));
	}

	/** Reports a write that is not repeated because the engine was closed. */
	void leftToLease(String verb, String operation) {
		write(() -> logger.warn(
				"The store failed to {} a claim of '{}' after the engine was closed: it is left to its lease", verb,
				operation));
	}

	/** Reports the number of writes of each operation that were left at the close. */
	void closed(Map<String, Integer> left) {
		if (!left.isEmpty()) {
			write(() -> logger
				.warn("Closed with writes that the store has not taken, by operation: {}. Their keys stay claimed "
						+ "until the leases are over, and may then run again", left));
		}
	}

}
