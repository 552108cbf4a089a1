package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;
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
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * Runs the scripts of all callers on one connection of Lettuce. No script holds the
 * connection up. It is the connection that the whole application shares, or, if the
 * application shares none, one that is kept for the store. Each call waits until its own
 * deadline, however long the command time-out of the client is.
 */
final class LettuceScriptRunner implements ScriptRunner {

	/** How long to wait after a server has refused a connection beside the shared one. */
	private static final long BESIDE_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final RedisConnectionFactory connectionFactory;

	private final ConnectionOpener opener = new ConnectionOpener();

	private volatile @Nullable Line line;

	/** A connection of the store's own, for while the shared one connects again. */
	private volatile @Nullable Line beside;

	private volatile boolean closed;

	/** The connection that is being opened for all callers that wait for one. */
	private @Nullable CompletableFuture<Line> opening;

	private @Nullable CompletableFuture<Line> openingBeside;

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
	public byte @Nullable [] get(byte[] key, Deadline deadline) {
		return LettuceScript.get(connection(deadline), key, deadline);
	}

	@Override
	public <T> List<T> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		StatefulConnection<byte[], byte[]> connection = connection(deadline);
		List<LettuceScript<T>> sent = new ArrayList<>(keysAndArguments.size());
		keysAndArguments.forEach((keyAndArguments) -> sent.add(LettuceScript.named(verb, keyAndArguments)));
		LettuceScript.sendAll(connection, sent);
		try {
			return replies(connection, verb, keysAndArguments, sent, deadline);
		}
		catch (NotSentException ex) {
			// One script did not leave, but other scripts may have left.
			throw withdrawAll(sent) ? ex : ex.reason();
		}
		catch (RuntimeException ex) {
			withdrawAll(sent);
			throw ex;
		}
	}

	/** Withdraws all scripts and returns whether none left and none ever will. */
	private static <T> boolean withdrawAll(List<LettuceScript<T>> sent) {
		boolean withdrawn = true;
		for (LettuceScript<T> script : sent) {
			withdrawn &= script.withdraw();
		}
		return withdrawn;
	}

	/**
	 * Waits for the replies. If a server did not know the script, the command is sent
	 * once more with the text of the script.
	 */
	private static <T> List<T> replies(StatefulConnection<byte[], byte[]> connection, Verb verb,
			List<byte[][]> keysAndArguments, List<LettuceScript<T>> sent, Deadline deadline) {
		Map<Integer, T> replies = new TreeMap<>();
		Map<Integer, LettuceScript<T>> whole = new LinkedHashMap<>();
		for (int i = 0; i < keysAndArguments.size(); i++) {
			try {
				replies.put(i, sent.get(i).await(deadline));
			}
			catch (RedisNoScriptException ex) {
				whole.put(i, LettuceScript.whole(verb, keysAndArguments.get(i)));
			}
		}
		List<LettuceScript<T>> again = List.copyOf(whole.values());
		sent.addAll(again);
		LettuceScript.sendAll(connection, again);
		whole.forEach((i, script) -> replies.put(i, script.await(deadline)));
		return List.copyOf(replies.values());
	}

	/**
	 * Returns a connection. While the shared one connects again, after pauses that grow
	 * with the time it was away, one more is opened beside it, as soon as there is a
	 * server: nobody waits for the end of such a pause.
	 */
	private StatefulConnection<byte[], byte[]> connection(Deadline deadline) {
		Line last = this.line;
		return (last != null && last.isOpen()) ? last.connection()
				: ConnectionOpener.await(connecting(deadline), deadline);
	}

	/**
	 * Returns what {@link #connection} does, for a caller that does not wait.
	 * @return a future that may complete after the deadline
	 */
	CompletableFuture<StatefulConnection<byte[], byte[]>> connecting(Deadline deadline) {
		Line last = this.line;
		if (last == null || !last.isUsable()) {
			return opening().thenApply(Line::connection);
		}
		return mayUse(last) ? CompletableFuture.completedFuture(last.connection()) : connectingBeside(last, deadline);
	}

	private boolean mayUse(Line last) {
		return last.isOpen() || !mayOpenBeside(last);
	}

	private CompletableFuture<StatefulConnection<byte[], byte[]>> connectingBeside(Line last, Deadline deadline) {
		Line open = this.beside;
		if (open != null && open.isOpen()) {
			return CompletableFuture.completedFuture(open.connection());
		}
		return openingBeside().thenApply(Line::connection)
			.exceptionallyCompose((refused) -> deadline.isOver() ? CompletableFuture.failedFuture(refused)
					: this.opener.pause(Math.min(deadline.rest(), BESIDE_PAUSE_NANOS))
						.thenCompose((over) -> mayUse(last) ? CompletableFuture.completedFuture(last.connection())
								: connectingBeside(last, deadline)));
	}

	/**
	 * Returns whether another connection can be had while this one is held. A pool may
	 * have only one, and a cluster connects to each of its nodes by itself.
	 */
	private boolean mayOpenBeside(Line last) {
		LettuceConnectionFactory lettuce = (LettuceConnectionFactory) this.connectionFactory;
		return last.connection() instanceof StatefulRedisConnection && (lettuce.getShareNativeConnection()
				|| !(lettuce.getClientConfiguration() instanceof LettucePoolingClientConfiguration));
	}

	private synchronized CompletableFuture<Line> openingBeside() {
		if (this.openingBeside == null || this.openingBeside.isDone()) {
			this.openingBeside = this.opener.start(this::openBeside, Line::close);
		}
		return this.openingBeside;
	}

	private Line openBeside() {
		Line last = this.beside;
		if (last != null) {
			if (last.isOpen()) {
				return last;
			}
			this.beside = null;
			last.close();
		}
		Line next = Line.openBeside(this.connectionFactory);
		this.beside = next;
		if (this.closed) {
			closeLine();
		}
		return next;
	}

	/**
	 * Starts one attempt for all callers that wait; each of them may stop waiting
	 * earlier.
	 */
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
			// The old connection is closed first, because a pool may have no second one.
			last.close();
		}
		Line next = Line.open(this.connectionFactory);
		this.line = next;
		if (this.closed) {
			// Nobody would close what was opened during the close.
			closeLine();
		}
		return next;
	}

	@Override
	public void close() {
		this.closed = true;
		this.opener.close();
		closeLine();
	}

	private void closeLine() {
		List<Line> last = new ArrayList<>();
		synchronized (this) {
			Stream.of(Optional.ofNullable(this.line), Optional.ofNullable(this.beside))
				.flatMap(Optional::stream)
				.forEach(last::add);
			this.line = null;
			this.beside = null;
		}
		last.forEach(Line::close);
	}

	/**
	 * The connection of Spring, which is given back at the end, and the connection of
	 * Lettuce below it, which is used.
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
		 * Opens a connection that the application does not share. Spring never opens a
		 * pipeline on the shared connection, so it takes another one.
		 */
		static Line openBeside(RedisConnectionFactory connectionFactory) {
			RedisConnection lease = connectionFactory.getConnection();
			try {
				lease.openPipeline();
				Line line = new Line(lease, nativeConnection(lease));
				lease.closePipeline();
				return line;
			}
			catch (RuntimeException ex) {
				lease.close();
				throw ex;
			}
		}

		/** Returns whether a script that is sent now leaves now. */
		boolean isOpen() {
			return this.connection.isOpen();
		}

		/**
		 * Returns whether the connection is open, or will connect again by itself. Such a
		 * connection is as good as a new one, and other callers may share it.
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
	 * Returns the connection of Lettuce below the one of Spring; this deprecated method
	 * is the only way to it.
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
