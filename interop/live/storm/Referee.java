import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.Nimbus;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.testing.TestWordSpout;
import org.apache.storm.thrift.protocol.TBinaryProtocol;
import org.apache.storm.thrift.transport.TSocket;
import org.apache.storm.thrift.transport.layered.TFramedTransport;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.tuple.Fields;

/**
 * Storm's own client of Nimbus.
 *
 * <pre>
 * Referee PORT submit NAME      submits a topology
 * Referee PORT show ID          prints its inputs: bolt, component, stream, grouping
 * Referee PORT equal ID OTHER   fails unless the two topologies are equal
 * </pre>
 */
public class Referee {
    public static void main(String[] args) throws Exception {
        TFramedTransport transport = new TFramedTransport(new TSocket("127.0.0.1", Integer.parseInt(args[0]), 60_000));
        transport.open();
        Nimbus.Client nimbus = new Nimbus.Client(new TBinaryProtocol(transport));
        switch (args[1]) {
            case "submit":
                submit(nimbus, args[2]);
                break;
            case "show":
                show(nimbus.getUserTopology(args[2]));
                break;
            case "equal":
                if (!nimbus.getUserTopology(args[2]).equals(nimbus.getUserTopology(args[3]))) {
                    System.err.println("they differ");
                    System.exit(1);
                }
                break;
            default:
                System.exit(2);
        }
        transport.close();
    }

    private static void submit(Nimbus.Client nimbus, String name) throws Exception {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout("words", new TestWordSpout(true), 2);
        builder.setSpout("möre words", new TestWordSpout(false), 1);
        builder.setBolt("count", new TestWordCounter(), 3)
            .fieldsGrouping("words", new Fields("word"))
            .shuffleGrouping("möre words");
        builder.setBolt("all", new TestWordCounter(), 1)
            .allGrouping("count")
            .globalGrouping("words")
            .localOrShuffleGrouping("möre words");
        String location = nimbus.beginFileUpload();
        nimbus.uploadChunk(location, ByteBuffer.wrap("not quite a jar".getBytes("UTF-8")));
        nimbus.finishFileUpload(location);
        nimbus.submitTopology(name, location, "{\"topology.workers\": 2}", builder.createTopology());
    }

    private static void show(StormTopology topology) {
        for (Map.Entry<String, Bolt> bolt : new TreeMap<>(topology.get_bolts()).entrySet()) {
            Map<GlobalStreamId, Grouping> inputs = bolt.getValue().get_common().get_inputs();
            for (GlobalStreamId stream : new TreeSet<>(inputs.keySet())) {
                Grouping grouping = inputs.get(stream);
                System.out.println(String.join(" / ", bolt.getKey(), stream.get_componentId(), stream.get_streamId(),
                    grouping.getSetField().getFieldName()
                        + (grouping.is_set_fields() ? " " + String.join(",", grouping.get_fields()) : "")));
            }
        }
    }
}
