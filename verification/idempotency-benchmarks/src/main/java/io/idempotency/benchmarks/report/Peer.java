package io.idempotency.benchmarks.report;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.benchmarks.application.LoadApplication;

/** A library that is measured beside the guard. No other application has its jars. */
enum Peer {

	/** Locks by an annotation. */
	LOCK4J(LoadApplication.LOCK4J, "lock4j-"),

	/** Keeps keys by an annotation, by Redisson. */
	PIG4CLOUD(LoadApplication.PIG4CLOUD, "idempotent-spring-boot-starter-", "redisson-", "kryo-", "minlog-",
			"objenesis-", "reflectasm-", "rxjava-", "cache-api-", "jackson-dataformat-yaml-", "jboss-marshalling-",
			"jodd-", "aspectjweaver-");

	private final String profile;

	private final List<String> jars;

	Peer(String profile, String... jars) {
		this.profile = profile;
		this.jars = List.of(jars);
	}

	/** Returns the argument that starts the application with it. */
	String argument() {
		return argument(this.profile);
	}

	static String argument(String profile) {
		return "--spring.profiles.active=" + profile;
	}

	/** Leaves out the jars of those that the application does not have. */
	static String classPath(String all, List<String> arguments) {
		List<String> others = Stream.of(values())
			.filter((peer) -> !arguments.contains(peer.argument()))
			.flatMap((peer) -> peer.jars.stream())
			.toList();
		return Arrays.stream(all.split(File.pathSeparator))
			.filter((entry) -> others.stream().noneMatch(new File(entry).getName()::startsWith))
			.collect(Collectors.joining(File.pathSeparator));
	}

}
