package io.idempotency.test;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.idempotency.IdempotencyInProgressException;

/**
 * Makes the same call, or delivers the same messages, many times at once. Each duplicate
 * has its own thread, and one latch starts all of them.
 * <p>
 * A storm is immutable and may be run any number of times. A storm that has not ended
 * after two minutes is interrupted, and the calls that have not returned count as
 * failures.
 *
 * @since 0.1.0
 */
public final class ConcurrentDuplicates {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final int size;

	private ConcurrentDuplicates(int size) {
		this.size = size;
	}

	/**
	 * Creates a storm.
	 * @param size the number of duplicates
	 * @return the storm
	 */
	public static ConcurrentDuplicates of(int size) {
		if (size < 1) {
			throw new IllegalArgumentException("At least one call is required, not " + size);
		}
		return new ConcurrentDuplicates(size);
	}

	/**
	 * Sends a request many times at once, each over a connection of its own (HTTP/1.1).
	 * @param size the number of duplicates
	 * @param request the request
	 * @return the responses
	 */
	public static Result<HttpResponse<byte[]>> http(int size, HttpRequest request) {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		return of(size).run((index) -> client.send(request, BodyHandlers.ofByteArray()));
	}

	/**
	 * Makes the calls and waits for all of them.
	 * @param call the call that every duplicate makes
	 * @param <T> the type of the value that the call returns
	 * @return the outcome
	 */
	public <T> Result<T> run(Call<? extends T> call) {
		ExecutorService threads = Executors.newFixedThreadPool(this.size);
		try {
			CountDownLatch ready = new CountDownLatch(this.size);
			CountDownLatch go = new CountDownLatch(1);
			List<Future<T>> calls = new ArrayList<>(this.size);
			for (int i = 0; i < this.size; i++) {
				int index = i;
				calls.add(threads.submit(() -> {
					ready.countDown();
					go.await();
					return call.call(index);
				}));
			}
			ready.await();
			go.countDown();
			return collect(calls);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while concurrent duplicates were running", ex);
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * Delivers messages to a listener as a broker does that repeats itself and keeps no
	 * order. Each duplicate is a consumer with a thread of its own, which delivers every
	 * message in a random order; so the listener gets each message at least once from
	 * each duplicate, and several messages at once.
	 * <p>
	 * A consumer whose message is rejected because another delivery of it still runs
	 * ({@link IdempotencyInProgressException}) delivers it again after its other
	 * messages. Any other exception ends the consumer, and is among the failures.
	 * @param messages the messages
	 * @param delivery calls the listener
	 * @param <M> the type of the messages
	 * @return for each consumer, how often it delivered a message again
	 */
	public <M> Result<Integer> deliver(Collection<? extends M> messages, Delivery<? super M> delivery) {
		return this.<Integer>run((index) -> new Consumer<M>(messages, delivery).run());
	}

	private static <T> Result<T> collect(List<Future<T>> calls) throws InterruptedException {
		long deadline = System.nanoTime() + PATIENCE.toNanos();
		List<T> values = new ArrayList<>();
		List<Throwable> failures = new ArrayList<>();
		for (Future<T> call : calls) {
			try {
				values.add(call.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS));
			}
			catch (ExecutionException ex) {
				failures.add(ex.getCause());
			}
			catch (TimeoutException ex) {
				failures.add(ex);
			}
		}
		return new Result<>(values, failures);
	}

	/**
	 * One of the duplicates.
	 *
	 * @param <T> the type of the value that the call returns
	 */
	@FunctionalInterface
	public interface Call<T> {

		/**
		 * Makes the call.
		 * @param index the index of the duplicate, from zero
		 * @return the value for the result of the storm
		 * @throws Exception if the call failed
		 */
		T call(int index) throws Exception;

	}

	/**
	 * Calls a listener with a message.
	 *
	 * @param <M> the type of the message
	 */
	@FunctionalInterface
	public interface Delivery<M> {

		/**
		 * Calls the listener.
		 * @param message the message
		 * @throws Exception if the listener did not take the message
		 */
		void deliver(M message) throws Exception;

	}

	/**
	 * The outcome of a storm.
	 *
	 * @param values the values of the calls that returned, in the order of their index
	 * @param failures the exceptions of the other calls, in the order of their index
	 * @param <T> the type of the value that a call returns
	 */
	public record Result<T>(List<T> values, List<Throwable> failures) {

		/**
		 * Returns the values of a storm in which no call may fail.
		 * @return one value for each duplicate
		 * @throws AssertionError if a call failed; every failure is a suppressed
		 * exception of the error
		 */
		public List<T> valuesOrFail() {
			if (this.failures.isEmpty()) {
				return this.values;
			}
			AssertionError error = new AssertionError(
					this.failures.size() + " of the calls failed, the first with " + this.failures.get(0));
			this.failures.forEach(error::addSuppressed);
			throw error;
		}

	}

	/** One of the consumers of a storm. It belongs to one thread. */
	private static final class Consumer<M> {

		private static final long PAUSE_MILLIS = 5;

		private final Deque<M> messages;

		private final Delivery<? super M> delivery;

		private int redeliveries;

		Consumer(Collection<? extends M> messages, Delivery<? super M> delivery) {
			List<M> shuffled = new ArrayList<>(messages);
			Collections.shuffle(shuffled);
			this.messages = new ArrayDeque<>(shuffled);
			this.delivery = delivery;
		}

		/**
		 * Delivers each message until the listener has taken it.
		 * @return how often a message was delivered again
		 */
		int run() throws Exception {
			for (M message = this.messages.poll(); message != null; message = this.messages.poll()) {
				try {
					this.delivery.deliver(message);
				}
				catch (IdempotencyInProgressException ex) {
					// The message goes to the end, as if the broker had put it back into
					// the
					// queue.
					this.messages.add(message);
					this.redeliveries++;
					TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
				}
			}
			return this.redeliveries;
		}

	}

}
