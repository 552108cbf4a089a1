package io.idempotency.store.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs the scripts of all callers on one connection of Lettuce, and never blocks. No
 * script holds the connection up. Each call waits until its own deadline, however long
 * the command timeout of the client is.
 */
final class LettuceScriptRunner implements ScriptRunner {

	private final LettuceConnections connections;

	private LettuceScriptRunner(LettuceConnections connections) {
		this.connections = connections;
	}

	/** Returns a runner, {@code null} if the connections are not those of Lettuce. */
	static @Nullable ScriptRunner of(RedisConnectionFactory connectionFactory) {
		return (connectionFactory instanceof LettuceConnectionFactory lettuce)
				? new LettuceScriptRunner(new LettuceConnections(lettuce)) : null;
	}

	@Override
	public <T> Pending<T> run(RedisScript verb, byte[][] keyAndArguments, Deadline deadline) {
		return send(new LettuceScript<>(verb, keyAndArguments), deadline);
	}

	@Override
	public Pending<byte @Nullable []> get(byte[] key, Deadline deadline) {
		return send(LettuceScript.get(key), deadline);
	}

	private <T> Pending<T> send(LettuceScript<T> script, Deadline deadline) {
		send(List.of(script), deadline);
		return script.pending();
	}

	@Override
	public <T> Pending<List<T>> runAll(RedisScript verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		List<LettuceScript<T>> scripts = keysAndArguments.stream()
			.map((keyAndArguments) -> new LettuceScript<T>(verb, keyAndArguments))
			.toList();
		send(scripts, deadline);
		List<CompletableFuture<T>> replies = scripts.stream().map((script) -> script.pending().reply()).toList();
		return new Pending<>(
				CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new)).handle((done, failed) -> {
					if (failed != null) {
						throw new CompletionException(failure(replies));
					}
					return replies.stream().map(CompletableFuture::join).toList();
				}), (reason) -> scripts.forEach((script) -> script.withdraw(reason)));
	}

	/** One script may not have left, but other scripts may have left. */
	private static <T> Throwable failure(List<CompletableFuture<T>> replies) {
		List<Throwable> failures = replies.stream()
			.filter(CompletableFuture::isCompletedExceptionally)
			.map((reply) -> reply.handle((value, failure) -> failure).join())
			.toList();
		boolean noneLeft = failures.size() == replies.size()
				&& failures.stream().allMatch(NotSentException.class::isInstance);
		return (!noneLeft && failures.get(0) instanceof NotSentException first) ? first.reason() : failures.get(0);
	}

	private <T> void send(List<LettuceScript<T>> scripts, Deadline deadline) {
		this.connections.get(deadline).whenComplete((line, failure) -> {
			if (failure != null) {
				scripts.forEach((script) -> script.withdraw(failure));
			}
			else {
				LettuceScript.sendAll(line.connection(), scripts);
			}
		});
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
