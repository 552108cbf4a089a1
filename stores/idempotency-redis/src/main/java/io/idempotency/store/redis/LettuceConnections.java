package io.idempotency.store.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.idempotency.store.Scheduler;
import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * The connections of a store. The first is the connection that the whole application
 * shares, or a dedicated one if the application shares none. The second is used while the
 * first one reconnects. Lettuce pauses between its attempts to reconnect, up to half a
 * minute, and calls do not wait for the end of such a pause.
 * <p>
 * Connections are opened on dedicated threads. When a server does not respond, a client
 * may wait a minute for a connection, and the caller of a store has less time than that.
 */
final class LettuceConnections implements AutoCloseable {

	private static final int THREADS = 4;

	/** How long to wait after the second connection could not be opened. */
	private static final long PAUSE_MILLIS = 50;

	private final LettuceConnectionFactory factory;

	private final Scheduler scheduler = Scheduler.system();

	private final Executor threads = this.scheduler.threads("redis", THREADS);

	private final Slot first = new Slot(false);

	private final Slot second = new Slot(true);

	private volatile boolean closed;

	LettuceConnections(LettuceConnectionFactory factory) {
		this.factory = factory;
	}

	/**
	 * Returns a connection that is open, or that reconnects by itself if there can be no
	 * other one.
	 * @return a future that may complete after the deadline
	 */
	CompletableFuture<Line> get(Deadline deadline) {
		Line line = this.first.line;
		if (line == null || !line.isUsable()) {
			return this.first.open();
		}
		return (line.isOpen() || !mayOpenSecond(line)) ? CompletableFuture.completedFuture(line) : getSecond(deadline);
	}

	private CompletableFuture<Line> getSecond(Deadline deadline) {
		Line line = this.second.line;
		if (line != null && line.isOpen()) {
			return CompletableFuture.completedFuture(line);
		}
		return this.second.open()
			.exceptionallyComposeAsync(
					(rejected) -> deadline.isOver() ? CompletableFuture.failedFuture(rejected) : get(deadline),
					CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS, this.threads));
	}

	/**
	 * Returns whether another connection can be had while this one is held. A pool may
	 * have only one, and a cluster connects to each of its nodes by itself.
	 */
	private boolean mayOpenSecond(Line line) {
		return line.connection() instanceof StatefulRedisConnection && (this.factory.getShareNativeConnection()
				|| !(this.factory.getClientConfiguration() instanceof LettucePoolingClientConfiguration));
	}

	@Override
	public void close() {
		this.closed = true;
		this.scheduler.close();
		this.first.close();
		this.second.close();
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

	/**
	 * The connection of Spring, which is returned at the end, and the connection of
	 * Lettuce below it, which is used.
	 */
	record Line(RedisConnection lease, StatefulConnection<byte[], byte[]> connection) {

		/**
		 * Opens a connection.
		 * @param dedicated whether the application must not share it: Spring never opens
		 * a pipeline on the shared connection and opens another one
		 */
		private static Line open(LettuceConnectionFactory factory, boolean dedicated) {
			RedisConnection lease = factory.getConnection();
			try {
				if (dedicated) {
					lease.openPipeline();
				}
				Line line = new Line(lease, nativeConnection(lease));
				if (dedicated) {
					lease.closePipeline();
				}
				return line;
			}
			catch (RuntimeException ex) {
				lease.close();
				throw ex;
			}
		}

		/** Returns whether a script that is sent now leaves now. */
		private boolean isOpen() {
			return this.connection.isOpen();
		}

		/**
		 * Returns whether the connection is open, or will reconnect by itself. Such a
		 * connection is as good as a new one, and other callers may share it.
		 */
		private boolean isUsable() {
			if (isOpen()) {
				return true;
			}
			boolean closed = this.connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
			return !closed && this.connection.getOptions().isAutoReconnect();
		}

	}

	/** One connection, which is replaced when it cannot be used any more. */
	private final class Slot {

		private final boolean dedicated;

		private volatile @Nullable Line line;

		private @Nullable CompletableFuture<Line> opening;

		Slot(boolean dedicated) {
			this.dedicated = dedicated;
		}

		/** Starts one attempt for all callers; each of them may stop waiting earlier. */
		synchronized CompletableFuture<Line> open() {
			if (this.opening == null || this.opening.isDone()) {
				try {
					this.opening = CompletableFuture.supplyAsync(this::replace, LettuceConnections.this.threads);
				}
				catch (RejectedExecutionException ex) {
					return CompletableFuture.failedFuture(new RedisConnectionFailureException(
							"No thread is available to open a connection to Redis", ex));
				}
			}
			return this.opening;
		}

		private Line replace() {
			Line last = this.line;
			if (last != null && (this.dedicated ? last.isOpen() : last.isUsable())) {
				return last;
			}
			// The old connection is closed first, because a pool may have no second one.
			close();
			Line next = Line.open(LettuceConnections.this.factory, this.dedicated);
			this.line = next;
			if (LettuceConnections.this.closed) {
				close();
			}
			return next;
		}

		void close() {
			Line last;
			synchronized (this) {
				last = this.line;
				this.line = null;
			}
			if (last != null) {
				last.lease().close();
			}
		}

	}

}
