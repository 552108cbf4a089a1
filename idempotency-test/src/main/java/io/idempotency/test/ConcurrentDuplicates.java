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
 * Executes the same call, or delivers the same messages, several times concurrently. Each
 * duplicate has a dedicated thread, and one latch starts all of them.
 * <p>
 * Immutable; can be run several times. A run is interrupted after two minutes, and the
 * calls that did not return count as failures.
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
	 * Creates a concurrency test.
	 * @param size the number of duplicates
	 * @return the concurrency test
	 */
	public static ConcurrentDuplicates of(int size) {
		if (size < 1) {
			throw new IllegalArgumentException("At least one call is required, not " + size);
		}
		return new ConcurrentDuplicates(size);
	}

	/**
	 * Sends a request several times concurrently, each over a separate connection
	 * (HTTP/1.1).
	 * @param size the number of duplicates
	 * @param request the request
	 * @return the responses
	 */
	public static Result<HttpResponse<byte[]>> http(int size, HttpRequest request) {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		return of(size).run((index) -> client.send(request, BodyHandlers.ofByteArray()));
	}

	/**
	 * Executes the calls and waits for all of them.
	 * @param call the call of every duplicate
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
	 * Delivers messages to a listener like a broker that repeats messages and does not
	 * preserve their order. Each duplicate is a consumer with a dedicated thread, which
	 * delivers all messages in random order. The listener receives each message at least
	 * once from each duplicate, and several messages concurrently.
	 * <p>
	 * If a message is rejected because another delivery of it is in progress
	 * ({@link IdempotencyInProgressException}), the consumer delivers it again after its
	 * other messages. Any other exception stops the consumer and is one of the failures.
	 * @param messages the messages
	 * @param delivery calls the listener
	 * @param <M> the type of the messages
	 * @return for each consumer, the number of repeated deliveries
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
		 * Executes the call.
		 * @param index the index of the duplicate, from zero
		 * @return the value for the result of the concurrency test
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
		 * @throws Exception if the listener did not accept the message
		 */
		void deliver(M message) throws Exception;

	}

	/**
	 * The result of a concurrency test.
	 *
	 * @param values the values of the calls that returned, in the order of their index
	 * @param failures the exceptions of the other calls, in the order of their index
	 * @param <T> the type of the value that a call returns
	 */
	public record Result<T>(List<T> values, List<Throwable> failures) {

		/**
		 * Returns the values if no call failed.
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

	/** One of the consumers. Confined to one thread. */
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
		 * Delivers each message until the listener accepts it.
		 * @return the number of repeated deliveries
		 */
		int run() throws Exception {
			for (M message = this.messages.poll(); message != null; message = this.messages.poll()) {
				try {
					this.delivery.deliver(message);
				}
				catch (IdempotencyInProgressException ex) {
					// The message moves to the end, like a message that a broker
					// requeues.
					this.messages.add(message);
					this.redeliveries++;
					TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
				}
			}
			return this.redeliveries;
		}

	}

}
