package io.idempotency.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A network in front of a server on this machine: what is sent arrives a while later, in
 * both directions. Any number of bytes may be under way, so that a line that many share
 * is as fast for each of them.
 */
public final class SlowNetwork implements AutoCloseable {

	private static final System.Logger logger = System.getLogger(SlowNetwork.class.getName());

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
	 * @throws IOException if no port is free
	 */
	public static SlowNetwork to(int port, long delayNanos) throws IOException {
		SlowNetwork network = new SlowNetwork(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), port,
				delayNanos);
		start(network::accept);
		return network;
	}

	/**
	 * Returns where it is entered.
	 * @return the port
	 */
	public int port() {
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
				connect(near, far);
				connect(far, near);
			}
		}
		catch (IOException ex) {
			if (!this.entrance.isClosed()) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	private void connect(Socket from, Socket to) {
		BlockingQueue<Parcel> underWay = new LinkedBlockingQueue<>();
		start(() -> send(from, underWay));
		start(() -> deliver(underWay, from, to));
	}

	private void send(Socket from, BlockingQueue<Parcel> underWay) {
		byte[] buffer = new byte[65536];
		try {
			InputStream input = from.getInputStream();
			int length = input.read(buffer);
			while (length >= 0) {
				underWay.add(new Parcel(Arrays.copyOf(buffer, length), System.nanoTime() + this.delayNanos));
				length = input.read(buffer);
			}
		}
		catch (IOException ex) {
			end(ex, from);
		}
		finally {
			underWay.add(Parcel.END);
		}
	}

	private void deliver(BlockingQueue<Parcel> underWay, Socket from, Socket to) {
		try (from; to) {
			OutputStream output = to.getOutputStream();
			for (Parcel next = underWay.take(); next != Parcel.END; next = underWay.take()) {
				for (long rest = next.rest(); rest > 0; rest = next.rest()) {
					LockSupport.parkNanos(rest);
				}
				output.write(next.bytes);
			}
		}
		catch (IOException ex) {
			end(ex, to);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A connection ends when either of its ends is gone: both see it, and say it if it
	 * matters.
	 */
	private static void end(IOException reason, Socket socket) {
		logger.log(System.Logger.Level.DEBUG, "Connection " + socket + " has ended", reason);
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

	/**
	 * What was sent at once.
	 *
	 * @param bytes what it is
	 * @param arrival when it arrives
	 */
	private record Parcel(byte[] bytes, long arrival) {

		static final Parcel END = new Parcel(new byte[0], 0);

		long rest() {
			return this.arrival - System.nanoTime();
		}

	}

}
