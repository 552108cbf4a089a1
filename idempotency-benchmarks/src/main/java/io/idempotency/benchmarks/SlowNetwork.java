package io.idempotency.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * A network in front of a server on this machine: what is sent arrives a while later, in
 * both directions.
 */
final class SlowNetwork implements AutoCloseable {

	private final ServerSocket entrance;

	private final int port;

	private final long delayNanos;

	private final List<Socket> sockets = new CopyOnWriteArrayList<>();

	private SlowNetwork(ServerSocket entrance, int port, long delayNanos) {
		this.entrance = entrance;
		this.port = port;
		this.delayNanos = delayNanos;
	}

	/**
	 * Opens it.
	 * @param port where the server listens
	 * @param delayNanos how long each direction takes
	 * @return the network
	 */
	static SlowNetwork to(int port, long delayNanos) throws IOException {
		SlowNetwork network = new SlowNetwork(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), port,
				delayNanos);
		start(network::accept);
		return network;
	}

	/** Where it is entered. */
	int port() {
		return this.entrance.getLocalPort();
	}

	private void accept() {
		try {
			while (true) {
				Socket near = this.entrance.accept();
				Socket far = new Socket(InetAddress.getLoopbackAddress(), this.port);
				for (Socket socket : List.of(near, far)) {
					socket.setTcpNoDelay(true);
					this.sockets.add(socket);
				}
				start(() -> carry(near, far));
				start(() -> carry(far, near));
			}
		}
		catch (IOException ex) {
			if (!this.entrance.isClosed()) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	private void carry(Socket from, Socket to) {
		byte[] buffer = new byte[65536];
		try (from; to) {
			InputStream input = from.getInputStream();
			OutputStream output = to.getOutputStream();
			int length = input.read(buffer);
			while (length >= 0) {
				long arrival = System.nanoTime() + this.delayNanos;
				for (long rest = this.delayNanos; rest > 0; rest = arrival - System.nanoTime()) {
					LockSupport.parkNanos(rest);
				}
				output.write(buffer, 0, length);
				length = input.read(buffer);
			}
		}
		catch (IOException ex) {
			if (!this.entrance.isClosed() && !from.isClosed() && !to.isClosed()) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "slow-network");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.entrance.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

}
