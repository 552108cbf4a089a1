package io.idempotency.benchmarks.report;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** How large the published jars are, and what they bring along. */
final class Jars implements Page.Section {

	private static final List<String> MODULES = List.of("idempotency-core", "idempotency-sql", "idempotency-jdbc",
			"idempotency-redis", "idempotency-spring", "idempotency-http", "idempotency-webmvc", "idempotency-webflux",
			"idempotency-reactor", "idempotency-spring-boot-starter", "idempotency-spring-boot-starter-webflux");

	@Override
	public void into(Page page) throws Exception {
		List<List<?>> rows = new ArrayList<>();
		for (String module : MODULES) {
			rows.add(List.of("`" + module + "`", Files.size(jar(module)) / 1024 + " KB"));
		}
		Set<String> dependencies = new TreeSet<>();
		for (String module : MODULES) {
			dependencies.addAll(dependencies(module));
		}
		dependencies.removeAll(MODULES);
		rows.add(List.of("other dependencies that they bring along",
				dependencies.size() + ": `" + String.join("`, `", dependencies) + "`"));
		page.table("Jars", "Without those of Spring Boot's own starter, which every application has.", List.of("", ""),
				rows);
	}

	private static Path jar(String module) throws IOException {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> entry.matches(".*[/\\\\]" + module + "-\\d[^/\\\\]*\\.jar"))
			.map(Path::of)
			.findFirst()
			.orElseThrow(() -> new IOException("No jar of " + module + " on the class path: run the phase verify"));
	}

	/** Those in the POM of a module that an application gets. */
	private static Set<String> dependencies(String module) throws Exception {
		Path pom = jar(module).resolveSibling("..").resolve("pom.xml").normalize();
		NodeList all = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(pom.toFile())
			.getElementsByTagName("dependency");
		Set<String> names = new TreeSet<>();
		for (int i = 0; i < all.getLength(); i++) {
			Element dependency = (Element) all.item(i);
			boolean optional = text(dependency, "optional").equals("true");
			boolean shipped = Set.of("", "compile", "runtime").contains(text(dependency, "scope"));
			if (!optional && shipped && !text(dependency, "artifactId").equals("spring-boot-starter")) {
				names.add(text(dependency, "artifactId"));
			}
		}
		return names;
	}

	private static String text(Element parent, String name) {
		NodeList found = parent.getElementsByTagName(name);
		return (found.getLength() > 0) ? found.item(0).getTextContent().strip() : "";
	}

}
