package io.idempotency.it.schemes;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import java.util.function.Supplier;

import java.net.http.HttpRequest;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;

import static org.awaitility.Awaitility.await;

/**
 * What one test has.
 *
 * @param id an identifier of its own
 * @param effect what happens for it
 * @param effects of other identifiers
 * @param client sends requests
 * @param store counts round trips
 * @param methods the schemes by the method adapter
 * @param recoveries look-ups by the method adapter
 * @param threads for calls that overlap
 */
record Stage(String id, Effect effect, Effects effects, Client client, CountingStore store, SchemeMethods methods,
		RecoveryMethods recoveries, ExecutorService threads) {

	static final String FORM = "application/x-www-form-urlencoded";

	/** How many duplicates come at once. */
	static final int STORM = 200;

	Answer post(String path, String key) {
		return this.client.post(path, key);
	}

	Answer post(String path, String key, Consumer<HttpRequest.Builder> more) {
		return form(path, key, "", more);
	}

	Answer form(String path, String body) {
		return form(path, "unused", body, (request) -> {
		});
	}

	private Answer form(String path, String key, String body, Consumer<HttpRequest.Builder> more) {
		return this.client.post(path, key, FORM, body, more);
	}

	<T> CompletableFuture<T> start(Supplier<T> call) {
		return CompletableFuture.supplyAsync(call, this.threads);
	}

	/** Asks when the lease of the owner that was cut off is over. */
	Answer afterTheLease(Callable<Answer> call) {
		this.store.endLease();
		return await().until(call, (answer) -> !answer.text().contains("\"code\":\"in-progress\""));
	}

	/** Asks when the lease of the owner that was cut off is over. */
	String resultAfterTheLease(Callable<String> call) {
		this.store.endLease();
		return await().ignoreException(IdempotencyInProgressException.class).until(call, (result) -> true);
	}

}
