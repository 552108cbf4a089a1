package io.idempotency.benchmarks.house;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A module that has sources.
 *
 * @param directory where it is
 * @param kind whom its main code is for
 * @param main its main code
 * @param tests its test code
 */
record SourceModule(Path directory, Kind kind, List<SourceFile> main, List<SourceFile> tests) {

	/** Finds all modules of a project, wherever they are. */
	static List<SourceModule> below(Path root) throws IOException {
		List<SourceModule> modules = new ArrayList<>();
		try (Stream<Path> files = Files.find(root, 5, (file, attributes) -> file.endsWith("pom.xml"))) {
			for (Path pom : files.sorted().toList()) {
				Path directory = pom.getParent();
				List<SourceFile> main = sources(directory.resolve("src/main"));
				List<SourceFile> tests = sources(directory.resolve("src/test"));
				if (!isBuilt(root.relativize(pom)) && !(main.isEmpty() && tests.isEmpty())) {
					modules.add(new SourceModule(directory, Kind.of(root, directory), main, tests));
				}
			}
		}
		return modules;
	}

	/** Whether it is a copy that a build has made. */
	private static boolean isBuilt(Path path) {
		return StreamSupport.stream(path.spliterator(), false).anyMatch((part) -> part.toString().equals("target"));
	}

	private static List<SourceFile> sources(Path directory) throws IOException {
		if (!Files.isDirectory(directory)) {
			return List.of();
		}
		List<SourceFile> sources = new ArrayList<>();
		for (Path file : filesBelow(directory, ".java")) {
			sources.add(SourceFile.read(file));
		}
		return sources;
	}

	private static List<Path> filesBelow(Path directory, String end) throws IOException {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter((file) -> file.toString().endsWith(end)).sorted().toList();
		}
	}

	String name() {
		return this.directory.getFileName().toString();
	}

	/** What its main code has been compiled to. */
	List<ClassFile> classes() throws IOException {
		Path classes = this.directory.resolve("target/classes");
		if (!Files.isDirectory(classes)) {
			throw new IOException("No class files in " + classes + ": run the phase process-classes");
		}
		List<ClassFile> read = new ArrayList<>();
		for (Path file : filesBelow(classes, ".class")) {
			read.add(ClassFile.read(classes, file));
		}
		return read;
	}

	/** Whom main code is for. */
	enum Kind {

		/** Published, and in an application when it runs. */
		LIBRARY,

		/** For tests, ours or those of users. */
		KIT,

		/** An example. */
		SAMPLE;

		private static Kind of(Path root, Path directory) {
			Path path = root.relativize(directory);
			if (path.toString().contains("samples")) {
				return SAMPLE;
			}
			boolean forTests = path.getFileName().toString().endsWith("-test");
			return (forTests || isUnpublished(root, directory)) ? KIT : LIBRARY;
		}

		/** Its pom says so, or a pom above it. */
		private static boolean isUnpublished(Path root, Path directory) {
			Path pom = directory.resolve("pom.xml");
			try {
				String text = Files.exists(pom) ? Files.readString(pom) : "";
				return text.contains("<maven.deploy.skip>true<")
						|| (!directory.equals(root) && isUnpublished(root, directory.getParent()));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
