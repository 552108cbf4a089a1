package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.Objects;
import java.util.function.Function;

import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import io.idempotency.key.Fingerprint;
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

/**
 * How long it takes to bring a JSON body into the form that is compared, by either
 * generation of Jackson, and to make a fingerprint of it. It stands in the package of
 * what it measures.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class JsonBodyBenchmark {

	private static final String END = "],\"currency\":\"EUR\",\"total\":39.90}";

	/** About how many characters a line of the order has. */
	private static final int LINE = 140;

	/** About how many bytes the order has. */
	@Param({ "300", "4096", "65536" })
	private int size;

	@Param({ "2", "3" })
	private int jackson;

	private byte[] body;

	private Function<CharBuffer, JsonTokenReader> reader;

	@Setup
	public void prepare() {
		StringBuilder json = new StringBuilder("{\"orderId\":\"5f0c2f1e-2a7b\",\"customer\":{\"name\":\"Ann Example\",")
			.append("\"mail\":\"ann@example.org\"},\"lines\":[");
		while (json.length() < this.size - END.length() - LINE) {
			json.append((json.charAt(json.length() - 1) == '}') ? "," : "")
				.append("{\"sku\":\"SKU-10042\",\"quantity\":2,\"price\":19.95,\"text\":\"A thing that people buy, in ")
				.append("blue\",\"tags\":[\"new\",\"sale\"],\"gift\":false}");
		}
		json.append(END);
		this.body = json.toString().getBytes(StandardCharsets.UTF_8);
		this.reader = (this.jackson == 2) ? Jackson2TokenReader::new : Jackson3TokenReader::new;
	}

	@Benchmark
	public Fingerprint fingerprint() throws MalformedJsonException {
		Fingerprint.Builder fingerprint = Fingerprint.of("http-json5").add("POST").add("/payments").add("json");
		fingerprint.add(Objects.requireNonNull(comparableForm()));
		return fingerprint.build();
	}

	@Benchmark
	public ByteBuffer comparableForm() throws MalformedJsonException {
		return JsonBody.read(ByteBuffer.wrap(this.body), "", this.reader).comparable();
	}

}
