package io.idempotency.benchmarks.house;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Prints how the project is built: its modules and packages in figures, and the way that
 * one call takes through the library. System properties say where: {@code house.root} the
 * project, {@code house.shop} the packaged shop unless it is on the class path,
 * {@code house.logs} the directory for names; with {@code house.calls=false} there are no
 * calls.
 */
final class HouseReport {

	private static final String IMPORTS = "META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports";

	/** What the shop leaves out itself: a list of ours takes the place of its own. */
	private static final List<String> LEFT_OUT = List.of(
			"org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration",
			"org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
			"org.springframework.boot.autoconfigure.amqp.RabbitAutoConfiguration",
			"org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration");

	private HouseReport() {
	}

	/**
	 * Counts.
	 * @param args none
	 */
	public static void main(String[] args) throws Exception {
		Path logs = Files.createDirectories(Path.of(System.getProperty("house.logs", "target/house"))).toRealPath();
		House house = new House(Path.of(System.getProperty("house.root", "../..")).toRealPath());
		Files.writeString(logs.resolve("names.txt"), house.names());
		System.out.println("# The house\n\n" + house.report());
		if (Boolean.parseBoolean(System.getProperty("house.calls", "true"))) {
			System.out.println("# The way of one call\n\n" + ways(logs));
		}
		System.out.println("Names, and each method that a call enters: " + logs);
	}

	private static String ways(Path logs) throws Exception {
		MarkdownTable table = new MarkdownTable("call", "store", "metrics", "classes", "calls into another class",
				"methods", "frames to the first statement", "of them in the store");
		for (String store : List.of("memory", "jdbc")) {
			for (boolean metrics : new boolean[] { false, true }) {
				List<String> arguments = new ArrayList<>(List.of("--idempotency.store=" + store));
				if (!metrics) {
					arguments.add("--spring.autoconfigure.exclude=" + withoutMetrics());
				}
				Map<String, Way> calls = new LinkedHashMap<>();
				try (TracedShop shop = new TracedShop(shop(), arguments)) {
					calls.put("fresh", shop.fresh());
					calls.put("replay", shop.replay());
				}
				for (String call : calls.keySet()) {
					Way way = calls.get(call);
					Files.writeString(logs.resolve(call + "-" + store + (metrics ? "-metrics" : "") + ".txt"),
							way.log());
					List<Way.Frame> frames = way.framesToStatement();
					table.row(call, store, metrics ? "on" : "off", way.classes(), way.moves(), way.methods(),
							frames.size(), frames.stream().filter(Way.Frame::isJdbc).count());
				}
			}
		}
		return Way.EXPLANATION + "\n" + table;
	}

	private static Path shop() throws IOException {
		String given = System.getProperty("house.shop", "");
		return Stream.of((given.isEmpty() ? System.getProperty("java.class.path") : given).split(File.pathSeparator))
			.filter((entry) -> entry.matches(".*[/\\\\]shop-[^/\\\\]*-exec\\.jar"))
			.map(Path::of)
			.findFirst()
			.orElseThrow(() -> new IOException("No packaged shop on the class path: run the phase package"));
	}

	private static String withoutMetrics() throws IOException {
		List<String> excluded = new ArrayList<>(LEFT_OUT);
		for (URL imports : Collections.list(HouseReport.class.getClassLoader().getResources(IMPORTS))) {
			try (var in = imports.openStream()) {
				new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
					.filter((line) -> line.matches("io\\.idempotency\\..*(Metrics|Observation)AutoConfiguration"))
					.forEach(excluded::add);
			}
		}
		if (excluded.size() == LEFT_OUT.size()) {
			throw new IOException("No configuration of metrics in " + IMPORTS + ": does it have another name now?");
		}
		return String.join(",", excluded);
	}

}
