package io.idempotency.it.faults;

import io.idempotency.it.servers.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;

import org.netcrusher.core.reactor.NioReactor;
import org.netcrusher.tcp.TcpCrusher;
import org.netcrusher.tcp.TcpCrusherBuilder;

/**
 * A line to a server that breaks when a test says so.
 */
public final class BadLine implements AutoCloseable {

	private final int port = FreePorts.next();

	private final NioReactor reactor;

	private final TcpCrusher crusher;

	private volatile boolean repliesAreLost;

	/**
	 * Opens a line.
	 * @param serverPort where the server listens
	 */
	public BadLine(int serverPort) {
		try {
			this.reactor = new NioReactor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.crusher = TcpCrusherBuilder.builder()
			.withReactor(this.reactor)
			.withBindAddress("127.0.0.1", this.port)
			.withConnectAddress("127.0.0.1", serverPort)
			.withIncomingTransformFilterFactory((address) -> (buffer) -> {
				if (this.repliesAreLost) {
					buffer.position(buffer.limit());
				}
			})
			.buildAndOpen();
	}

	/** Where clients connect. */
	public int port() {
		return this.port;
	}

	/** From now on the server hears everything and nobody hears the server. */
	public void loseReplies() {
		this.repliesAreLost = true;
	}

	/** From now on nothing arrives, and nothing is lost. */
	public void holdUp() {
		this.crusher.freeze();
	}

	/** What was held up arrives. */
	public void letGo() {
		this.crusher.unfreeze();
	}

	/** Drops all connections; new ones are good. */
	public void reconnect() {
		this.repliesAreLost = false;
		this.crusher.reopen();
	}

	/** Drops all connections and rejects new ones. */
	public void cut() {
		this.crusher.close();
	}

	/** After a {@link #cut()}. */
	public void mend() {
		this.crusher.open();
	}

	@Override
	public void close() {
		this.crusher.close();
		this.reactor.close();
	}

}
