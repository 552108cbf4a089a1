package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Measures everything that the documentation says about speed, on servers that it starts,
 * and writes a page with charts. A section that fails is named on the page and does not
 * keep the others from it.
 */
final class PerformanceReport {

	private final Settings settings;

	private final StoreServers servers;

	private PerformanceReport(Settings settings, StoreServers servers) {
		this.settings = settings;
		this.servers = servers;
	}

	/**
	 * Measures. See {@link Settings} for its properties.
	 * @param args none
	 */
	public static void main(String[] args) throws Exception {
		long begin = System.nanoTime();
		Settings settings = Settings.ofSystem();
		Machine machine = Machine.now();
		Page page;
		try (StoreServers servers = new StoreServers()) {
			page = new PerformanceReport(settings, servers).measure();
			page.write(settings, machine, servers.toString(), Duration.ofNanos(System.nanoTime() - begin));
		}
		System.out.println("Written to " + settings.directory().toRealPath());
		if (page.hasFailures()) {
			throw new IllegalStateException("A section has failed: see the page");
		}
	}

	private Page measure() throws IOException {
		Page page = new Page();
		long begin = System.nanoTime();
		for (Map.Entry<String, Page.Section> section : sections().entrySet()) {
			if (this.settings.only().matcher(section.getKey()).matches()) {
				System.out.println(Duration.ofNanos(System.nanoTime() - begin).toSeconds() + " s: " + section.getKey());
				measure(section.getKey(), section.getValue(), page);
			}
		}
		return page;
	}

	private static void measure(String name, Page.Section section, Page page) {
		try {
			section.into(page);
		}
		catch (Exception ex) {
			// Whatever it is: the figures of the other sections took minutes.
			ex.printStackTrace();
			page.fail(name, ex);
		}
	}

	private Map<String, Page.Section> sections() throws IOException {
		Map<String, Page.Section> sections = new LinkedHashMap<>();
		for (Stages.Stage stage : new Stages(this.servers).all()) {
			sections.put(stage.name(), (page) -> stage.measure(this.settings, page));
		}
		sections.put("Redis server", new RedisCost(this.servers, this.settings));
		sections.put("Waiting duplicates", new WaitingDuplicates(this.servers));
		sections.put("Records", new RecordSizes(this.servers));
		sections.put("Start", new StartUp(this.settings));
		sections.put("Jars", new Jars());
		sections.put("Pieces", new Pieces(this.settings));
		return sections;
	}

}
