package io.idempotency.it.servers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.netcrusher.core.reactor.NioReactor;
import org.netcrusher.tcp.TcpCrusher;
import org.netcrusher.tcp.TcpCrusherBuilder;

/**
 * A line to PostgreSQL that counts the messages to the server by their type: {@code P}
 * prepares a statement, {@code B} binds parameters, {@code D} asks what a statement
 * returns, {@code E} executes, {@code S} ends a round trip, {@code Q} is a simple query.
 */
public final class PostgreSqlLine implements AutoCloseable {

	private final Map<String, AtomicLong> messages = new ConcurrentHashMap<>();

	private final int port = FreePorts.next();

	private final NioReactor reactor;

	private final TcpCrusher crusher;

	/**
	 * Opens a line for connections without TLS.
	 * @param serverPort where the server listens
	 * @throws IOException if its own port is not free any more
	 */
	public PostgreSqlLine(int serverPort) throws IOException {
		this.reactor = new NioReactor();
		this.crusher = TcpCrusherBuilder.builder()
			.withReactor(this.reactor)
			.withBindAddress("127.0.0.1", this.port)
			.withConnectAddress("127.0.0.1", serverPort)
			.withOutgoingTransformFilterFactory((address) -> new Messages()::read)
			.buildAndOpen();
	}

	/** Where clients connect. */
	public int port() {
		return this.port;
	}

	/**
	 * Counts the messages of each type that a task sends while nobody else does.
	 * @param task the task
	 * @return the counts
	 */
	public Map<String, Long> messagesOf(Runnable task) {
		this.messages.clear();
		task.run();
		Map<String, Long> counts = new TreeMap<>();
		this.messages.forEach((type, count) -> counts.put(type, count.get()));
		return counts;
	}

	@Override
	public void close() {
		this.crusher.close();
		this.reactor.close();
	}

	/** The messages of one connection, which begins with one that has no type. */
	private final class Messages {

		private static final int LENGTH = 4;

		private String type = "";

		private long length;

		/** How many bytes of the length were read. */
		private int lengthBytes;

		/** How many bytes of the message are to come. */
		private long rest;

		private boolean begun;

		/** Looks at what is under way, and leaves it as it is. */
		void read(ByteBuffer buffer) {
			for (int i = buffer.position(); i < buffer.limit();) {
				if (this.rest > 0) {
					int skipped = (int) Math.min(this.rest, buffer.limit() - i);
					this.rest -= skipped;
					i += skipped;
				}
				else {
					begin(buffer.get(i++));
				}
			}
		}

		private void begin(byte next) {
			if (this.begun && this.type.isEmpty()) {
				this.type = String.valueOf((char) next);
				return;
			}
			this.length = this.length << Byte.SIZE | next & 0xFF;
			if (++this.lengthBytes == LENGTH) {
				if (this.begun) {
					PostgreSqlLine.this.messages.computeIfAbsent(this.type, (any) -> new AtomicLong())
						.incrementAndGet();
				}
				this.rest = this.length - LENGTH;
				this.begun = true;
				this.type = "";
				this.length = 0;
				this.lengthBytes = 0;
			}
		}

	}

}
