package io.idempotency.proofs.calling;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A line to a server that answers one request on each connection. Every second answer is
 * lost when the server has sent it: whole, or without its last bytes.
 */
final class LossyLine implements AutoCloseable {

	private static final int MISSING_BYTES = 5;

	private final int serverPort;

	private final ServerSocket listener;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final AtomicInteger answers = new AtomicInteger();

	private volatile boolean lossy = true;

	LossyLine(int serverPort) {
		this.serverPort = serverPort;
		try {
			this.listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.threads.execute(this::listen);
	}

	String address() {
		return "http://127.0.0.1:" + this.listener.getLocalPort();
	}

	/** How many answers have come, the lost ones included. */
	int answers() {
		return this.answers.get();
	}

	void loseNothing() {
		this.lossy = false;
	}

	private void listen() {
		while (!this.listener.isClosed()) {
			try {
				Socket client = this.listener.accept();
				this.threads.execute(() -> connect(client));
			}
			catch (IOException ex) {
				return; // closed
			}
		}
	}

	private void connect(Socket client) {
		try (client; Socket server = new Socket(InetAddress.getLoopbackAddress(), this.serverPort)) {
			this.threads.execute(() -> forward(client, server));
			byte[] answer = server.getInputStream().readAllBytes();
			if (answer.length > 0) {
				deliver(answer, client.getOutputStream());
			}
		}
		catch (IOException ex) {
			return; // one of them has hung up, and the other one hears of it by the close
		}
	}

	private void deliver(byte[] answer, OutputStream client) throws IOException {
		int number = this.answers.incrementAndGet();
		if (!this.lossy || number % 2 == 1) {
			client.write(answer);
		}
		else if (number % 4 == 0) {
			client.write(answer, 0, answer.length - MISSING_BYTES);
		}
	}

	private static void forward(Socket client, Socket server) {
		try {
			InputStream in = client.getInputStream();
			in.transferTo(server.getOutputStream());
		}
		catch (IOException ex) {
			return; // as above
		}
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
		this.threads.shutdownNow();
	}

}
