package io.idempotency.web;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.idempotency.http.StoredAnswers;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.store.StoredResult;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

import org.springframework.mock.web.MockHttpServletResponse;

/**
 * What it takes to hold an answer back, store and send it, and to send a stored one,
 * beside the same answer that is only written. It stands in the package of what it
 * measures.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class AnswerBenchmark {

	private static final long MAX_BYTES = 1 << 20;

	/** How many bytes the body has. */
	@Param({ "300", "4096", "65536" })
	private int size;

	private final ResponseReplay replay = new ResponseReplay("Idempotency-Replayed");

	private byte[] body;

	private Socket socket;

	private StoredResult stored;

	@Setup
	public void prepare() {
		this.body = new byte[this.size];
		Arrays.fill(this.body, (byte) 'x');
		this.socket = new Socket(this.size);
		this.stored = StoredAnswers.json(this.size);
	}

	@Benchmark
	public HttpServletResponse written() throws IOException {
		return write(new Answering(this.socket));
	}

	@Benchmark
	public HttpServletResponse captured(Blackhole results) throws IOException {
		HttpServletResponse response = new Answering(this.socket);
		BufferingResponse capturing = new BufferingResponse(response);
		capturing.hold(MAX_BYTES);
		write(capturing);
		results.consume(StoredResponseCodec.encode(capturing.snapshot(Set.of())));
		capturing.push();
		return response;
	}

	@Benchmark
	public HttpServletResponse replayed() throws IOException {
		HttpServletResponse response = new Answering(this.socket);
		this.replay.send(StoredResponseCodec.decode(this.stored), response);
		return response;
	}

	private HttpServletResponse write(HttpServletResponse response) throws IOException {
		response.setStatus(HttpServletResponse.SC_CREATED);
		response.setContentType("application/json");
		response.getOutputStream().write(this.body);
		return response;
	}

	/**
	 * Headers as a container has them, and a stream of our own: that of the mock takes
	 * byte by byte.
	 */
	private static final class Answering extends HttpServletResponseWrapper {

		private final Socket socket;

		Answering(Socket socket) {
			super(new MockHttpServletResponse());
			this.socket = socket;
		}

		@Override
		public ServletOutputStream getOutputStream() {
			return this.socket;
		}

	}

	/** Where the bytes go. */
	private static final class Socket extends ServletOutputStream {

		private final byte[] buffer;

		Socket(int size) {
			this.buffer = new byte[size];
		}

		@Override
		public void write(int value) {
			this.buffer[0] = (byte) value;
		}

		@Override
		public void write(byte[] bytes, int from, int length) {
			System.arraycopy(bytes, from, this.buffer, 0, length);
		}

		@Override
		public boolean isReady() {
			return true;
		}

		@Override
		public void setWriteListener(WriteListener listener) {
			throw new UnsupportedOperationException("Nobody writes later here");
		}

	}

}
