package io.idempotency.messaging;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.idempotency.IdempotencyException;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationCall.InvocationListener;
import io.idempotency.engine.CallOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.messaging.converter.MessageConversionException;

/**
 * One delivery of a message to a guarded listener. It is the only place that acknowledges
 * and returns messages. There is one subclass for each kind of broker.
 *
 * <h2>The listener settles its message</h2>
 *
 * A listener that receives its {@code Acknowledgment}, {@code Channel} or {@code Session}
 * settles the message by it, and that counts more than its return. The subclass replaces
 * these arguments by proxies that call {@link #settle}. The first {@link Settlement}
 * counts, as it does for a broker:
 *
 * <table>
 * <caption>The outcome of the call</caption>
 * <tr>
 * <th>settlement</th>
 * <th>the method, or its future, returns</th>
 * <th>it throws</th>
 * </tr>
 * <tr>
 * <td>{@link Settlement#ACKNOWLEDGED}</td>
 * <td>completed</td>
 * <td>failed, as without a guard: the message is gone; its key is released or remembers
 * the failure</td>
 * </tr>
 * <tr>
 * <td>{@link Settlement#RETURNED}</td>
 * <td>released; a joined transaction is rolled back</td>
 * <td>released, regardless of the failure policy</td>
 * </tr>
 * <tr>
 * <td>none</td>
 * <td>completed, unless the subclass {@linkplain #staysOpen() leaves it open}: then the
 * claim stays until the message is settled</td>
 * <td>failed</td>
 * </tr>
 * </table>
 *
 * <h2>First the claim, then the broker</h2>
 *
 * Calls to the broker that are made while the method runs, or its future is not complete,
 * are stored, and are sent in their order after the claim ended ({@link #sendPending()}).
 * So the next delivery of a returned message finds its key released, and a process that
 * crashes between an acknowledgement and the end of its claim causes one more delivery.
 * Later calls are sent at once, but end an open claim before.
 * <p>
 * Messages may be settled from any thread.
 */
abstract class Delivery implements InvocationListener {

	private final OperationCall call;

	private final ReceivedMessage message;

	private final RetryWait retryWait;

	private final List<BrokerCall> pending = new ArrayList<>();

	private final CompletableFuture<CallOutcome> open = new CompletableFuture<>();

	private Phase phase = Phase.RUNNING;

	private @Nullable Settlement settlement;

	private boolean hasReturned;

	/** The ending of an open claim if the listener acknowledges the message. */
	private CallOutcome acknowledged = CallOutcome.DONE_UNKEPT;

	Delivery(OperationCall call, ReceivedMessage message, RetryWait retryWait) {
		this.call = call;
		this.message = message;
		this.retryWait = retryWait;
	}

	final OperationCall call() {
		return this.call;
	}

	final RetryWait retryWait() {
		return this.retryWait;
	}

	/**
	 * Returns the replacement for an argument by which the method can settle the message.
	 * It is not passed if the parameter does not accept it, such as a KafkaConsumer.
	 * @param type the type of the parameter
	 * @return the replacement, or the argument
	 */
	abstract @Nullable Object replace(@Nullable Object argument, Class<?> type);

	/**
	 * Returns whether a method that returned without a settlement has still to settle the
	 * message, because it may have handed its work to another thread.
	 */
	boolean staysOpen() {
		return false;
	}

	/** Is called when this delivery stays open, before the message can be settled. */
	void opened() {
	}

	/**
	 * Waits with a message whose method may still have to run, before it is
	 * {@linkplain #returnMessage returned}.
	 * @param why the reason why the method did not run
	 * @return whether to try it again
	 */
	boolean waits(Throwable why) {
		return this.retryWait.next(why, this.call.operation().options());
	}

	/**
	 * Acknowledges a message whose method does not run, because it was processed before.
	 * Does nothing where the container acknowledges.
	 * @throws Exception the exception of the broker
	 */
	abstract void acknowledge() throws Exception;

	/**
	 * Returns a message to the broker that may still have to run, or whose joined
	 * transaction was not committed.
	 * @param why the exception
	 * @return the exception for the container, so that the broker delivers the message
	 * again; {@code null} if the message was returned by a call to the broker. Never
	 * {@code null} for a listener that returns futures
	 * @throws Exception the exception of the broker
	 */
	abstract @Nullable Throwable returnMessage(Throwable why) throws Exception;

	/**
	 * Returns the exception for the container if another delivery cannot succeed. The
	 * error handlers of the broker do not retry it.
	 */
	RuntimeException deadLetter(RuntimeException reason) {
		return new MessageConversionException(describe(reason), reason);
	}

	/** Recoverers write this text into a header of the dead letter. */
	static String describe(RuntimeException reason) {
		String message = String.valueOf(reason.getMessage());
		return (reason instanceof IdempotencyException rejection)
				? message + " [code=" + rejection.code() + ", retry=" + rejection.retry() + "]" : message;
	}

	/**
	 * Records a settlement and sends a call to the broker, after the end of the claim.
	 * @param settled the settlement, {@code null} for a call that does not settle this
	 * message but must keep its position among the others
	 * @throws Exception the exception of the broker
	 */
	final void settle(@Nullable Settlement settled, BrokerCall brokerCall) throws Exception {
		synchronized (this) {
			if (this.phase == Phase.RUNNING) {
				this.settlement = (this.settlement != null) ? this.settlement : settled;
				this.pending.add(brokerCall);
				return;
			}
		}
		if (settled != null) {
			settled(settled);
		}
		brokerCall.send();
	}

	/**
	 * Records a settlement and sends a call to the broker at once, after the pending
	 * calls.
	 */
	final void settleNow(Settlement settled, BrokerCall brokerCall) throws Exception {
		settled(settled);
		flush();
		brokerCall.send();
	}

	/** Records a settlement, and ends an open claim. */
	final void settled(Settlement settled) {
		boolean ends;
		synchronized (this) {
			this.settlement = (this.settlement != null) ? this.settlement : settled;
			ends = this.phase == Phase.OPEN;
			this.phase = ends ? Phase.OVER : this.phase;
		}
		if (ends) {
			this.open.complete(isGivenBack() ? new CallOutcome.NotRun(null) : this.acknowledged);
		}
	}

	@Override
	public final @Nullable Object run(Run method) throws Throwable {
		@Nullable Object[] arguments = this.call.arguments();
		@Nullable Object[] original = arguments.clone();
		Class<?>[] types = this.call.operation().guarded().method().getParameterTypes();
		for (int i = 0; i < arguments.length; i++) {
			Object replaced = replace(arguments[i], types[i]);
			arguments[i] = types[i].isInstance(replaced) ? replaced : arguments[i];
		}
		Object result;
		try {
			result = method.proceed();
		}
		finally {
			// Retry advice calls again with the arguments that it passed.
			System.arraycopy(original, 0, arguments, 0, original.length);
		}
		if (!this.call.operation().result().async() && isGivenBack()) {
			throw new ReturnedException(result);
		}
		return result;
	}

	@Override
	public final synchronized CallOutcome returned(CallOutcome ending) {
		if (this.settlement == Settlement.RETURNED) {
			return new CallOutcome.NotRun(null);
		}
		this.hasReturned = true;
		boolean endsWithItsReturn = !this.call.operation().result().async()
				&& this.call.operation().place().transactions() == null;
		if (this.settlement == null && endsWithItsReturn && staysOpen()) {
			this.phase = Phase.OPEN;
			this.acknowledged = ending;
			opened();
			return new CallOutcome.Deferred(this.open);
		}
		return ending;
	}

	@Override
	public final synchronized boolean isGivenBack() {
		return this.settlement == Settlement.RETURNED;
	}

	final synchronized boolean isSettled() {
		return this.settlement != null;
	}

	/**
	 * Returns whether the method returned successfully. If its call failed nevertheless,
	 * its work was rolled back, and the pending calls are not valid any more.
	 */
	final synchronized boolean hasReturned() {
		return this.hasReturned;
	}

	/**
	 * Sends the pending calls, when the claim ended or is open.
	 * @throws Exception the exception of the broker; the calls after it are dropped
	 */
	final void sendPending() throws Exception {
		synchronized (this) {
			this.phase = (this.phase == Phase.RUNNING) ? Phase.OVER : this.phase;
		}
		flush();
	}

	private void flush() throws Exception {
		List<BrokerCall> due;
		synchronized (this) {
			due = List.copyOf(this.pending);
			this.pending.clear();
		}
		for (BrokerCall brokerCall : due) {
			brokerCall.send();
		}
	}

	/** Drops the pending calls. */
	final synchronized void dropPending() {
		this.pending.clear();
		this.phase = Phase.OVER;
	}

	/** Names the message in log messages. */
	@Override
	public final String toString() {
		String id = this.message.id();
		return (id != null) ? id : "(unknown id)";
	}

	/** The ways in which a listener settles its message. */
	enum Settlement {

		/** The broker removes the message. */
		ACKNOWLEDGED,

		/** The message was not processed. */
		RETURNED

	}

	private enum Phase {

		RUNNING, OPEN, OVER

	}

	/** A call to the broker. */
	@FunctionalInterface
	interface BrokerCall {

		void send() throws Exception;

	}

	/** Marks, inside of the guard, a return as unsuccessful. */
	static final class ReturnedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final transient @Nullable Object result;

		ReturnedException(@Nullable Object result) {
			super("The listener returned its message to the broker", null, false, false);
			this.result = result;
		}

		/** Returns the result of the method. */
		@Nullable Object result() {
			return this.result;
		}

	}

}
