package io.idempotency.message.delivery;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.aop.OperationCall;
import io.idempotency.aop.RunWatch;
import io.idempotency.protocol.Ending;
import org.jspecify.annotations.Nullable;

import org.springframework.messaging.converter.MessageConversionException;

/**
 * One delivery of a message to a guarded listener: what its method tells the broker, and
 * what the guard tells the broker in its place. It is the only place that acknowledges
 * and un-acknowledges. There is one subclass for each kind of broker.
 *
 * <h2>The word of the listener is its outcome</h2>
 *
 * A listener that is given its {@code Acknowledgment}, {@code Channel} or {@code Session}
 * says by it what is to become of the message, and that counts more than its return. The
 * subclass replaces these arguments, in whatever form they come, by ones that call
 * {@link #tell}. The first {@link Word} counts, as it does for a broker:
 *
 * <table>
 * <caption>The end of the claim</caption>
 * <tr>
 * <th>word</th>
 * <th>the method, or its future, returns</th>
 * <th>it throws</th>
 * </tr>
 * <tr>
 * <td>{@link Word#TAKEN}</td>
 * <td>done</td>
 * <td>failed, as without a guard: the message is gone, and its key is free or remembers
 * the failure</td>
 * </tr>
 * <tr>
 * <td>{@link Word#GIVEN_BACK}</td>
 * <td>released, whatever the policy remembers; a joined transaction is rolled back</td>
 * <td>released, whatever the policy remembers</td>
 * </tr>
 * <tr>
 * <td>none</td>
 * <td>done, unless the subclass {@linkplain #staysOpen() leaves it open}: then the claim
 * lives until the word is there</td>
 * <td>failed</td>
 * </tr>
 * </table>
 *
 * <h2>First the claim, then the broker</h2>
 *
 * What is told while the method runs, or its future is not complete, is kept, and goes
 * through in its order when the claim has ended ({@link #goThrough()}). So the next
 * delivery of a message that was given back finds its key free, and a process that dies
 * between an acknowledgement and the end of its claim leaves a message that is delivered
 * once more, and not a key that nobody completes. What is told later goes through at
 * once, but ends an open claim before. What a broker throws at a call that was kept
 * leaves the listener as if the call had been made there.
 *
 * <h2>In place of the listener</h2>
 *
 * A message whose method does not run is {@linkplain #acknowledge() acknowledged} if it
 * was done before, and {@linkplain #sendBack sent back} if it may have to run yet. Both
 * are told to the broker only where that is up to the listener and not to its container.
 * <p>
 * Words may come from any thread.
 *
 * @hidden
 */
@Internal
public abstract class Delivery implements RunWatch {

	private final OperationCall call;

	private final ReceivedMessage message;

	/** What was told while the method ran. */
	private final List<Telling> kept = new ArrayList<>();

	private final CompletableFuture<Ending> open = new CompletableFuture<>();

	private Phase phase = Phase.RUNS;

	private @Nullable Word word;

	private boolean hasReturned;

	/** The ending of an open claim if the listener takes the message. */
	private Ending taken = Ending.DONE_UNKEPT;

	protected Delivery(OperationCall call, ReceivedMessage message) {
		this.call = call;
		this.message = message;
	}

	/** Returns the call of the listener. */
	protected final OperationCall call() {
		return this.call;
	}

	/**
	 * Replaces the arguments by which the method can tell the broker anything.
	 * @param arguments the arguments that the method will get; the caller takes the
	 * changes back when the method has returned
	 */
	protected abstract void watch(@Nullable Object[] arguments);

	/**
	 * Returns whether a method that has returned without a word has still to say it, e.g.
	 * because it handed its work to another thread.
	 * @return {@code false} unless a subclass knows better
	 */
	protected boolean staysOpen() {
		return false;
	}

	/**
	 * Is told that this delivery stays open, and its claim with it, before anybody can
	 * say a word. Asks neither the broker nor the store.
	 */
	protected void opened() {
	}

	/**
	 * Waits with a message whose method may have to run yet, before it is
	 * {@linkplain #sendBack sent back}.
	 * @param why why it did not run
	 * @return whether to try it again instead; {@code false} without a wait where the
	 * broker or its container makes the pauses
	 */
	public boolean waits(Throwable why) {
		return false;
	}

	/**
	 * Acknowledges a message whose method does not run, because its effect is there. Does
	 * nothing where the container acknowledges.
	 * @throws Exception what the broker throws
	 */
	public abstract void acknowledge() throws Exception;

	/**
	 * Sends back a message that may have to run yet: its method was not entered, because
	 * its first call still runs, its outcome is unknown, the store is down, or anything
	 * else failed; or it was, and then its joined transaction was not committed.
	 * @param why the exception
	 * @return what the container must be told, so that the broker delivers the message
	 * again; {@code null} if the broker knows already. Never {@code null} for a listener
	 * that returns futures
	 * @throws Exception what the broker throws
	 */
	public abstract @Nullable Throwable sendBack(Throwable why) throws Exception;

	/**
	 * Returns what the container is told of a message that no further delivery can help.
	 * @param reason why
	 * @return an exception that the error handlers of the broker do not retry, with
	 * {@link #describe} as its message
	 */
	public RuntimeException deadLetter(RuntimeException reason) {
		return new MessageConversionException(describe(reason), reason);
	}

	/**
	 * Says what the problem of a request says by members: recoverers write it into a
	 * header of the dead letter.
	 */
	protected static String describe(RuntimeException reason) {
		String message = String.valueOf(reason.getMessage());
		return (reason instanceof IdempotencyException refusal)
				? message + " [code=" + refusal.code() + ", retry=" + refusal.retry() + "]" : message;
	}

	/**
	 * Notes a word, and lets the call go through at its time.
	 * @param said the word, {@code null} for a call that says nothing about this message
	 * but must keep its place among the others
	 * @param telling the call to the broker
	 * @throws Exception what the broker throws
	 */
	protected final void tell(@Nullable Word said, Telling telling) throws Exception {
		synchronized (this) {
			if (this.phase == Phase.RUNS) {
				this.word = (this.word != null) ? this.word : said;
				this.kept.add(telling);
				return;
			}
		}
		if (said != null) {
			conclude(said);
		}
		telling.go();
	}

	/**
	 * Notes a word, and lets the call go through at once, behind what was kept.
	 * @param telling the call to the broker
	 * @throws Exception what the broker throws
	 */
	protected final void tellAtOnce(Word said, Telling telling) throws Exception {
		conclude(said);
		tellKept();
		telling.go();
	}

	/** Notes a word that was said elsewhere, and ends an open claim. */
	public final void conclude(Word said) {
		if (isSaid(said)) {
			this.open.complete(isGivenBack() ? new Ending.NotRun(null) : this.taken);
		}
	}

	/** Notes a word. Returns whether it ends an open claim. */
	private synchronized boolean isSaid(Word said) {
		this.word = (this.word != null) ? this.word : said;
		boolean ends = this.phase == Phase.OPEN;
		this.phase = ends ? Phase.OVER : this.phase;
		return ends;
	}

	@Override
	public final @Nullable Object run(Run method) throws Throwable {
		@Nullable Object[] arguments = this.call.arguments();
		@Nullable Object[] own = arguments.clone();
		watch(arguments);
		Object result;
		try {
			result = method.proceed();
		}
		finally {
			// Whoever calls again, e.g. to retry, finds what it has given.
			System.arraycopy(own, 0, arguments, 0, own.length);
		}
		if (!this.call.operation().result().async() && isGivenBack()) {
			throw new GivenBack(result);
		}
		return result;
	}

	@Override
	public final synchronized Ending returned(Ending ending) {
		if (this.word == Word.GIVEN_BACK) {
			return new Ending.NotRun(null);
		}
		this.hasReturned = true;
		boolean endsWithItsReturn = !this.call.operation().result().async()
				&& this.call.operation().place().transactions() == null;
		if (this.word == null && endsWithItsReturn && staysOpen()) {
			this.phase = Phase.OPEN;
			this.taken = ending;
			opened();
			return new Ending.Later(this.open);
		}
		return ending;
	}

	@Override
	public final synchronized boolean isGivenBack() {
		return this.word == Word.GIVEN_BACK;
	}

	/** Returns whether the listener has said nothing about its message. */
	public final synchronized boolean isSilent() {
		return this.word == null;
	}

	/**
	 * Returns whether the method was successful. If its call has failed all the same, its
	 * work was rolled back, and what it told the broker is not true any more.
	 */
	public final synchronized boolean hasReturned() {
		return this.hasReturned;
	}

	/**
	 * Lets through what was kept: the claim has ended, or is open.
	 * @throws Exception what the broker throws; what was told after that is not told any
	 * more
	 */
	public final void goThrough() throws Exception {
		synchronized (this) {
			this.phase = (this.phase == Phase.RUNS) ? Phase.OVER : this.phase;
		}
		tellKept();
	}

	private void tellKept() throws Exception {
		List<Telling> due;
		synchronized (this) {
			due = List.copyOf(this.kept);
			this.kept.clear();
		}
		for (Telling telling : due) {
			telling.go();
		}
	}

	/** Names the message, for the log. */
	@Override
	public final String toString() {
		String id = this.message.id();
		return (id != null) ? id : "a message whose id the listener does not take";
	}

	/** Forgets what was kept: it is not true any more. */
	public final synchronized void withdraw() {
		this.kept.clear();
		this.phase = Phase.OVER;
	}

	/** What a listener says about its message. */
	public enum Word {

		/** The broker may forget the message. */
		TAKEN,

		/** The message was not processed. */
		GIVEN_BACK

	}

	private enum Phase {

		RUNS, OPEN, OVER

	}

	/** A call to the broker. */
	@FunctionalInterface
	public interface Telling {

		/**
		 * Makes the call.
		 * @throws Exception what the broker throws
		 */
		void go() throws Exception;

	}

	/** Says, inside of the guard, that a return is no success. */
	public static final class GivenBack extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final transient @Nullable Object result;

		GivenBack(@Nullable Object result) {
			super("The listener gave its message back", null, false, false);
			this.result = result;
		}

		/** Returns what the method has returned. */
		public @Nullable Object result() {
			return this.result;
		}

	}

}
