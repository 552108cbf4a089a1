package io.idempotency.benchmarks.report;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Which of the two stacks an application has: it gets the class path of this JVM without
 * the jars of the other one.
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
