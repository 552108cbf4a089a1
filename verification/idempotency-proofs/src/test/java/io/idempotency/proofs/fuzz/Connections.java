package io.idempotency.proofs.fuzz;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.idempotency.proofs.fuzz.Connection.Answer;
import org.jspecify.annotations.Nullable;

/** The connections of one worker, kept alive where that is possible. */
final class Connections implements AutoCloseable {

	private final int port;

	private final Deque<Connection> idle = new ArrayDeque<>();

	Connections(int port) {
		this.port = port;
	}

	@Nullable Answer exchange(FuzzRequest request, boolean guarded, String fuzzId) throws IOException {
		return exchange(request, guarded, List.of(fuzzId)).get(0);
	}

	/**
	 * Sends a request over as many connections at the same time as there are ids.
	 * @return the answers, {@code null} for a connection that was closed without one
	 * @throws Violation if there is no answer although there must be one
	 */
	List<@Nullable Answer> exchange(FuzzRequest request, boolean guarded, List<String> fuzzIds) throws IOException {
		List<Connection> open = new ArrayList<>();
		for (String fuzzId : fuzzIds) {
			Connection connection = this.idle.isEmpty() ? new Connection(this.port) : this.idle.poll();
			open.add(connection);
			send(connection, request.toBytes(guarded, fuzzId), request);
		}
		List<@Nullable Answer> answers = new ArrayList<>();
		for (Connection connection : open) {
			Answer answer = (request.framing() != Framing.HANG_UP) ? receive(connection, request) : null;
			if (answer != null && request.isClean() && !answer.closes()) {
				this.idle.add(connection);
			}
			else {
				connection.close();
			}
			answers.add(answer);
		}
		return answers;
	}

	/** The answer to a request for a token. */
	String issueToken(String session) throws IOException {
		try (Connection connection = new Connection(this.port)) {
			connection.send(("POST /idempotency/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nX-Session: "
					+ session + "\r\n\r\n")
				.getBytes(StandardCharsets.ISO_8859_1), false);
			Answer answer = connection.receive(false);
			if (answer == null || answer.status() != 201) {
				throw new Violation("no token", "The answer was " + answer);
			}
			return answer.text();
		}
	}

	private static void send(Connection connection, byte[] bytes, FuzzRequest request) throws IOException {
		try {
			connection.send(bytes, request.framing().isIncomplete());
		}
		catch (SocketException ex) {
			// Rejected before it was read to its end: the answer says why.
			if (request.isClean()) {
				throw ex;
			}
		}
	}

	private static @Nullable Answer receive(Connection connection, FuzzRequest request) throws IOException {
		try {
			Answer answer = connection.receive(request.method().equals("HEAD"));
			if (answer == null && request.isClean()) {
				throw new Violation("no answer", "The connection was closed");
			}
			return answer;
		}
		catch (SocketTimeoutException ex) {
			throw new Violation("stall", "Nothing was answered: " + ex.getMessage());
		}
		catch (SocketException | EOFException ex) {
			if (request.isClean()) {
				throw new Violation("no answer", ex.toString());
			}
			return null;
		}
	}

	@Override
	public void close() throws IOException {
		for (Connection connection : this.idle) {
			connection.close();
		}
		this.idle.clear();
	}

}
