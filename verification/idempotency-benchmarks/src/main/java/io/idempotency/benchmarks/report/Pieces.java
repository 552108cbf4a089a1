package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

import org.springframework.util.ClassUtils;

/** The parts of a guarded call, one by one, by JMH. */
final class Pieces implements Page.Section {

	private static final String ALLOCATED = "gc.alloc.rate.norm";

	private static final Goal METHOD_ADAPTER = Goal.atMost("method adapter: replay ÷ hit of `@Cacheable`, time", 1, "");

	private static final Goal STORE_SIZE = Goal.atMost("claim at 10⁶ keys ÷ 10³, memory, time", 1.1, "");

	/** What tells the variants of one benchmark apart. */
	private static final List<String> SIZES = List.of("size", "records");

	private final Settings settings;

	Pieces(Settings settings) {
		this.settings = settings;
	}

	@Override
	public void into(Page page) throws Exception {
		List<RunResult> results = new ArrayList<>(new Runner(pieces()).run());
		results.addAll(new Runner(storeSize()).run());
		List<List<?>> rows = new ArrayList<>();
		Map<String, Double> times = new HashMap<>();
		for (RunResult result : results) {
			Result<?> time = result.getPrimaryResult();
			Result<?> bytes = result.getSecondaryResults().get(ALLOCATED);
			String name = name(result.getParams());
			double nanos = time.getScoreUnit().startsWith("us") ? 1000 : 1;
			times.put(name, time.getScore());
			rows.add(List.of(name, number(time.getScore() * nanos) + " ± " + number(time.getScoreError() * nanos),
					(bytes != null) ? number(bytes.getScore()) : ""));
		}
		page.judge(METHOD_ADAPTER, times.get("MethodAdapter.replay") / times.get("MethodAdapter.cacheHit"));
		page.judge(STORE_SIZE,
				times.get("StoreSize.claimAndRelease 1000000") / times.get("StoreSize.claimAndRelease 1000"));
		page.table("Pieces",
				"JMH, one thread, short measurements: the errors are large, and differences below them are none.",
				List.of("", "ns", "bytes"), rows);
	}

	private Options pieces() throws IOException {
		return options(1, "jmh.log").include("\\.KeyBenchmark\\.")
			.include("\\.JsonBodyBenchmark\\.fingerprint$")
			.include("\\.EngineBenchmark\\.")
			.include("\\.MethodAdapterBenchmark\\.(bare|replay|cacheHit)$")
			.include("\\.AnswerBenchmark\\.")
			.param("jackson", jackson())
			.build();
	}

	/**
	 * Takes longer: after a million records were written the collector has to move them
	 * first.
	 */
	private Options storeSize() throws IOException {
		return options(5, "jmh-store-size.log").include("\\.StoreSizeBenchmark\\.claimAndRelease$")
			.param("url", "memory")
			.build();
	}

	private ChainedOptionsBuilder options(int turns, String logName) throws IOException {
		// As long as a turn: what is too short for a turn is too short here.
		TimeValue time = TimeValue.milliseconds(turns * this.settings.millis());
		Path log = Path.of("target", logName);
		Files.createDirectories(log.getParent());
		return new OptionsBuilder().forks(1)
			.warmupIterations(3)
			.warmupTime(time)
			.measurementIterations(4)
			.measurementTime(time)
			.addProfiler(GCProfiler.class)
			.output(log.toString())
			.shouldFailOnError(true);
	}

	/** The generation that this line of Spring Boot has. */
	private static String jackson() {
		return ClassUtils.isPresent("com.fasterxml.jackson.core.JsonFactory", null) ? "2" : "3";
	}

	/** {@code JsonBody.fingerprint 4096}. */
	private static String name(BenchmarkParams params) {
		String[] parts = params.getBenchmark().split("\\.");
		StringBuilder name = new StringBuilder(parts[parts.length - 2].replace("Benchmark", "")).append('.')
			.append(parts[parts.length - 1]);
		SIZES.stream()
			.filter(params.getParamsKeys()::contains)
			.forEach((size) -> name.append(' ').append(params.getParam(size)));
		return name.toString();
	}

	private static String number(double value) {
		return Double.isNaN(value) ? "?" : String.format(Locale.ROOT, "%,.0f", value);
	}

}
