package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs scripts on one connection of Lettuce for all callers, which no script holds up:
 * the one that the whole application shares, or where it shares none, one that is kept
 * for the store. Its own wait is bounded by each call's deadline, however long the
 * command time-out of the client is.
 */
final class LettuceScriptRunner implements ScriptRunner {

	private final RedisConnectionFactory connectionFactory;

	private final ConnectionOpener opener = new ConnectionOpener();

	private volatile @Nullable Line line;

	/** What is being opened for everybody who has no connection. */
	private @Nullable CompletableFuture<Line> opening;

	LettuceScriptRunner(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	static boolean isFor(RedisConnectionFactory connectionFactory) {
		return connectionFactory instanceof LettuceConnectionFactory;
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
		return LettuceScript.run(connection(deadline), verb, keyAndArguments, deadline);
	}

	@Override
	public List<Long> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		StatefulConnection<byte[], byte[]> connection = connection(deadline);
		List<LettuceScript<Long>> sent = new ArrayList<>(keysAndArguments.size());
		keysAndArguments.forEach((keyAndArguments) -> sent.add(LettuceScript.named(verb, keyAndArguments)));
		LettuceScript.sendAll(connection, sent);
		try {
			return replies(connection, verb, keysAndArguments, sent, deadline);
		}
		catch (NotSentException ex) {
			// One of them did not leave; that says nothing of the others.
			throw withdrawAll(sent) ? ex : ex.reason();
		}
		catch (RuntimeException ex) {
			withdrawAll(sent);
			throw ex;
		}
	}

	/** Whether none left and none ever will. */
	private static boolean withdrawAll(List<LettuceScript<Long>> sent) {
		boolean withdrawn = true;
		for (LettuceScript<Long> script : sent) {
			withdrawn &= script.withdraw();
		}
		return withdrawn;
	}

	/** Those that met a server that did not know the script are sent once more, whole. */
	private static List<Long> replies(StatefulConnection<byte[], byte[]> connection, Verb verb,
			List<byte[][]> keysAndArguments, List<LettuceScript<Long>> sent, Deadline deadline) {
		Long[] replies = new Long[keysAndArguments.size()];
		Map<Integer, LettuceScript<Long>> whole = new LinkedHashMap<>();
		for (int i = 0; i < replies.length; i++) {
			try {
				replies[i] = sent.get(i).await(deadline);
			}
			catch (RedisNoScriptException ex) {
				whole.put(i, LettuceScript.whole(verb, keysAndArguments.get(i)));
			}
		}
		List<LettuceScript<Long>> again = List.copyOf(whole.values());
		sent.addAll(again);
		LettuceScript.sendAll(connection, again);
		whole.forEach((i, script) -> replies[i] = script.await(deadline));
		return List.of(replies);
	}

	private StatefulConnection<byte[], byte[]> connection(Deadline deadline) {
		Line last = this.line;
		return ((last != null && last.isUsable()) ? last : ConnectionOpener.await(opening(), deadline)).connection();
	}

	/** One attempt for all who wait; each of them may leave earlier. */
	private synchronized CompletableFuture<Line> opening() {
		if (this.opening == null || this.opening.isDone()) {
			this.opening = this.opener.start(this::open, Line::close);
		}
		return this.opening;
	}

	private Line open() {
		Line last = this.line;
		if (last != null && !last.isUsable()) {
			this.line = null;
			// First: a pool may have no second one.
			last.close();
		}
		Line next = Line.open(this.connectionFactory);
		this.line = next;
		return next;
	}

	@Override
	public void close() {
		this.opener.close();
		Line last = this.line;
		this.line = null;
		if (last != null) {
			last.close();
		}
	}

	/**
	 * Spring's connection, which is given back, and the one below it, which is used.
	 */
	private record Line(RedisConnection lease, StatefulConnection<byte[], byte[]> connection) {

		static Line open(RedisConnectionFactory connectionFactory) {
			RedisConnection lease = connectionFactory.getConnection();
			try {
				return new Line(lease, nativeConnection(lease));
			}
			catch (RuntimeException ex) {
				lease.close();
				throw ex;
			}
		}

		/**
		 * What is disconnected and connects by itself again is as good as a new one, and
		 * may be shared.
		 */
		boolean isUsable() {
			if (this.connection.isOpen()) {
				return true;
			}
			boolean closed = this.connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
			return !closed && this.connection.getOptions().isAutoReconnect();
		}

		void close() {
			this.lease.close();
		}

	}

	/**
	 * Deprecated or not, there is no other way from Spring's connection to the one below
	 * it.
	 */
	@SuppressWarnings({ "unchecked", "deprecation" })
	static StatefulConnection<byte[], byte[]> nativeConnection(RedisConnection lease) {
		Object commands = lease.getNativeConnection();
		if (commands instanceof RedisAdvancedClusterAsyncCommands<?, ?> cluster) {
			return (StatefulRedisClusterConnection<byte[], byte[]>) cluster.getStatefulConnection();
		}
		return (StatefulRedisConnection<byte[], byte[]>) ((RedisAsyncCommands<?, ?>) commands).getStatefulConnection();
	}

}
