package io.idempotency.benchmarks.report;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.idempotency.benchmarks.application.LoadApplication;

/** The application in a process of its own. */
final class RunningApplication implements AutoCloseable {

	private final OtherProcess process;

	private final int port;

	private RunningApplication(OtherProcess process, int port) {
		this.process = process;
		this.port = port;
	}

	/** Starts it, and waits until it listens. */
	static RunningApplication start(Jdk jdk, Stack stack, List<String> arguments) throws IOException {
		OtherProcess process = OtherProcess.java(jdk, stack.classPath(), LoadApplication.class, arguments);
		return new RunningApplication(process, Integer.parseInt(process.lineWith("port ").substring("port ".length())));
	}

	int port() {
		return this.port;
	}

	/** What it has used up. */
	Usage usage() throws IOException {
		try (InputStream in = URI.create("http://127.0.0.1:" + this.port + "/meter").toURL().openStream()) {
			String[] values = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ");
			return new Usage(Long.parseLong(values[0]), Long.parseLong(values[1]));
		}
	}

	@Override
	public void close() {
		this.process.close();
	}

	/**
	 * What it has used up since it began.
	 *
	 * @param nanos of processors
	 * @param bytes that were allocated
	 */
	record Usage(long nanos, long bytes) {
	}

	/**
	 * Which of the two stacks an application has: it gets the class path of this JVM
	 * without the jars of the other one.
	 */
	enum Stack {

		/** Spring MVC on Tomcat. */
		SERVLET("spring-webflux-", "spring-boot-webflux-", "reactor-netty-", "spring-boot-reactor-netty-", "r2dbc-",
				"spring-r2dbc-", "idempotency-r2dbc-"),

		/** Spring WebFlux on Netty. */
		REACTIVE("spring-webmvc-", "spring-boot-webmvc-", "tomcat-embed-", "spring-boot-tomcat-", "HikariCP-",
				"spring-jdbc-", "spring-boot-jdbc-", "lock4j-");

		private final List<String> otherJars;

		Stack(String... otherJars) {
			this.otherJars = List.of(otherJars);
		}

		String classPath() {
			return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
				.filter((entry) -> this.otherJars.stream().noneMatch(new File(entry).getName()::startsWith))
				.collect(Collectors.joining(File.pathSeparator));
		}

	}

}
