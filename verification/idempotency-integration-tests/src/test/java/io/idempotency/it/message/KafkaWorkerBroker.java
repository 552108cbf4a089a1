package io.idempotency.it.message;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

/** Two topics of Kafka, with a partition for each of two consumers. */
final class KafkaWorkerBroker implements WorkerBroker {

	private static final int PARTITIONS = 2;

	private final String brokers = KafkaServer.broker().getBrokersAsString();

	private final Class<?> consumer;

	private final String topic = "processes-" + UUID.randomUUID();

	private final Map<String, Integer> sent = new ConcurrentHashMap<>();

	private final Admin admin = Admin.create(Map.of("bootstrap.servers", this.brokers));

	private final DefaultKafkaProducerFactory<String, String> producers = new DefaultKafkaProducerFactory<>(
			Map.of("bootstrap.servers", this.brokers), new StringSerializer(), new StringSerializer());

	KafkaWorkerBroker() {
		this(KafkaWorker.class);
	}

	KafkaWorkerBroker(Class<?> consumer) {
		this.consumer = consumer;
		this.admin.createTopics(topics().stream().map((topic) -> new NewTopic(topic, PARTITIONS, (short) 1)).toList())
			.all()
			.toCompletionStage()
			.toCompletableFuture()
			.join();
	}

	private List<String> topics() {
		return List.of(queue(), keptQueue());
	}

	@Override
	public Class<?> consumer() {
		return this.consumer;
	}

	@Override
	public List<String> properties() {
		return List.of("test.broker=" + this.brokers, "logging.level.org.apache.kafka=warn");
	}

	@Override
	public String queue() {
		return this.topic;
	}

	@Override
	public void send(String queue, List<String> messages) {
		KafkaTemplate<String, String> kafka = new KafkaTemplate<>(this.producers);
		int first = this.sent.getOrDefault(queue, 0);
		CompletableFuture
			.allOf(IntStream.range(0, messages.size())
				.mapToObj((i) -> kafka.send(queue, (first + i) % PARTITIONS, null, messages.get(i)))
				.toArray(CompletableFuture[]::new))
			.join();
		this.sent.put(queue, first + messages.size());
	}

	@Override
	public boolean isConsumedBy(int consumers) throws Exception {
		for (String topic : topics()) {
			if (consumersWithOnePartition(topic) != consumers) {
				return false;
			}
		}
		return true;
	}

	private long consumersWithOnePartition(String topic) throws Exception {
		try {
			ConsumerGroupDescription group = this.admin.describeConsumerGroups(List.of(topic))
				.describedGroups()
				.get(topic)
				.get();
			return group.members()
				.stream()
				.map(MemberDescription::assignment)
				.filter((assignment) -> assignment.topicPartitions().size() == 1)
				.count();
		}
		catch (ExecutionException ex) {
			// Kafka 4 knows no group before its first member.
			if (ex.getCause() instanceof GroupIdNotFoundException) {
				return 0;
			}
			throw ex;
		}
	}

	@Override
	public boolean isDrained() throws Exception {
		for (String topic : topics()) {
			if (acknowledged(topic) != this.sent.getOrDefault(topic, 0)) {
				return false;
			}
		}
		return true;
	}

	private long acknowledged(String topic) throws Exception {
		return this.admin.listConsumerGroupOffsets(topic)
			.partitionsToOffsetAndMetadata()
			.get()
			.values()
			.stream()
			.mapToLong(OffsetAndMetadata::offset)
			.sum();
	}

	@Override
	public void close() {
		this.producers.destroy();
		this.admin.close();
	}

}
