package io.idempotency.web;

import java.nio.ByteBuffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

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
 * generation of Jackson. It stands in the package of what it measures.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class JsonBodyBenchmark {

	/** How many lines the order has: 274 bytes, about 4 KB, about 25 KB. */
	@Param({ "1", "27", "168" })
	private int lines;

	@Param({ "2", "3" })
	private int jackson;

	private byte[] body;

	private Function<String, JsonTokens> reader;

	@Setup
	public void prepare() {
		StringBuilder json = new StringBuilder("{\"orderId\":\"5f0c2f1e-2a7b\",\"customer\":{\"name\":\"Ann Example\",")
			.append("\"mail\":\"ann@example.org\"},\"lines\":[");
		for (int i = 0; i < this.lines; i++) {
			json.append((i > 0) ? "," : "")
				.append("{\"sku\":\"SKU-10042\",\"quantity\":2,\"price\":19.95,\"text\":\"A thing that people buy, in ")
				.append("blue\",\"tags\":[\"new\",\"sale\"],\"gift\":false}");
		}
		json.append("],\"currency\":\"EUR\",\"total\":39.90}");
		this.body = json.toString().getBytes(StandardCharsets.UTF_8);
		this.reader = (this.jackson == 2) ? Jackson2Tokens::new : Jackson3Tokens::new;
	}

	@Benchmark
	public ByteBuffer comparableForm() throws MalformedJsonException {
		return JsonBody.read(JsonBody.decode(ByteBuffer.wrap(this.body)), "", this.reader).comparable();
	}

}
