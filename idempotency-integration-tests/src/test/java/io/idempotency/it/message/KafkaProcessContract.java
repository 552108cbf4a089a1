package io.idempotency.it.message;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.idempotency.it.random.Seed;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.ServerProcess;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A thousand messages are delivered three times each, in any order, to two consumers of
 * one group. Each consumer has a JVM of its own, and one JVM is killed in the middle of a
 * message. Each message has one effect, also that one: its next consumer takes it over
 * when the lease of the dead one is over.
 */
@Tag("own-processes")
abstract class KafkaProcessContract {

	private static final int MESSAGES = Integer.getInteger("idempotency.tests.intents", 1000);

	private static final int DELIVERIES = 3;

	private static final int PARTITIONS = 2;

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final List<String> NODES = List.of("one", "other");

	private static final String BROKERS = KafkaServer.broker().getBrokersAsString();

	/**
	 * The topic of the subclass, which is the name of the consumer group, too.
	 * @return the name
	 */
	abstract String topic();

	/**
	 * What makes an application use the store.
	 * @return the properties
	 */
	abstract List<String> properties();

	/**
	 * Reads what the consumers did.
	 * @return where they write it
	 */
	abstract EffectLog effects();

	@Test
	void eachMessageHasOneEffectThoughAConsumerIsKilled() throws Exception {
		Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target", "servers")), "kafka-")
			.toAbsolutePath();
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", BROKERS))) {
			admin.createTopics(List.of(new NewTopic(topic(), PARTITIONS, (short) 1))).all().get();
			try (ServerProcess one = start(NODES.get(0), directory);
					ServerProcess other = start(NODES.get(1), directory)) {
				await("a partition for each consumer; they log to " + directory).atMost(PATIENCE)
					// Kafka 4 knows no group before its first member.
					.ignoreExceptionsMatching((ex) -> ex.getCause() instanceof GroupIdNotFoundException)
					.until(() -> consumersWithAPartition(admin) == NODES.size());
				send(Seed.random(KafkaProcessContract.class));
				String victim = awaitVictim();
				(victim.equals(NODES.get(0)) ? one : other).kill();
				await("the end of the topic; the consumers log to " + directory).atMost(PATIENCE)
					.untilAsserted(() -> assertThat(processed(admin)).isEqualTo((MESSAGES + 1L) * DELIVERIES));
				assertOneEffectEach(victim);
			}
		}
	}

	private void assertOneEffectEach(String victim) {
		List<String> lines = effects().lines();
		List<String> done = lines.stream()
			.filter((line) -> line.contains(KafkaWorker.DID))
			.map((line) -> line.substring(line.lastIndexOf(' ') + 1))
			.toList();
		assertThat(done).as("effects").doesNotHaveDuplicates().hasSize(MESSAGES + 1);
		String survivor = NODES.get(1 - NODES.indexOf(victim));
		assertThat(lines).contains(line(survivor, KafkaWorker.DID, KafkaWorker.MORTAL));
		assertThat(lines.stream().filter((line) -> line.startsWith(victim))).as("what the dead one did")
			.hasSizeGreaterThan(1);
	}

	/** Waits until one consumer is in the middle of the message; gives its name. */
	private String awaitVictim() {
		return await("a consumer in the middle of its message").atMost(PATIENCE)
			.until(() -> NODES.stream()
				.filter((node) -> effects().lines().contains(line(node, KafkaWorker.BEGAN, KafkaWorker.MORTAL)))
				.findAny()
				.orElse(""), (node) -> !node.isEmpty());
	}

	private static String line(String node, String verb, String message) {
		return node + " " + verb + " " + message;
	}

	private void send(Random random) {
		List<String> deliveries = new ArrayList<>();
		for (int i = 0; i < MESSAGES * DELIVERIES; i++) {
			deliveries.add("message-" + i % MESSAGES);
		}
		Collections.shuffle(deliveries, random);
		int half = deliveries.size() / 2;
		for (int i = 0; i < DELIVERIES; i++) {
			deliveries.add(half + random.nextInt(half), KafkaWorker.MORTAL);
		}
		DefaultKafkaProducerFactory<String, String> producers = new DefaultKafkaProducerFactory<>(
				Map.of("bootstrap.servers", BROKERS), new StringSerializer(), new StringSerializer());
		try {
			KafkaTemplate<String, String> kafka = new KafkaTemplate<>(producers);
			CompletableFuture
				.allOf(deliveries.stream()
					.map((delivery) -> kafka.send(topic(), random.nextInt(PARTITIONS), null, delivery))
					.toArray(CompletableFuture[]::new))
				.join();
		}
		finally {
			producers.destroy();
		}
	}

	private long consumersWithAPartition(Admin admin) throws Exception {
		return admin.describeConsumerGroups(List.of(topic()))
			.describedGroups()
			.get(topic())
			.get()
			.members()
			.stream()
			.map(MemberDescription::assignment)
			.filter((assignment) -> assignment.topicPartitions().size() == 1)
			.count();
	}

	private long processed(Admin admin) throws Exception {
		return admin.listConsumerGroupOffsets(topic())
			.partitionsToOffsetAndMetadata()
			.get()
			.values()
			.stream()
			.mapToLong(OffsetAndMetadata::offset)
			.sum();
	}

	private ServerProcess start(String node, Path directory) {
		List<String> arguments = new ArrayList<>(List.of("--test.node=" + node, "--test.topic=" + topic(),
				"--test.brokers=" + BROKERS, "--spring.main.banner-mode=off", "--logging.level.org.apache.kafka=warn"));
		properties().forEach((property) -> arguments.add("--" + property));
		return ServerProcess.start(OtherJvm.command(KafkaWorker.class, arguments), directory.resolve(node + ".log"));
	}

}
